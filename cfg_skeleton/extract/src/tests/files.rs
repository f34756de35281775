//! Serialised e-graphs: what is read, what is wrong with them, and extraction from trees of blocks.

use super::serialized::{Pick, Serialized, read};
use super::*;

/// `a` is `(x + x) * (x + x)` or `4 * x²`: two nodes over a shared sum.
const SHARED: &str = r#"{
    "nodes": {
        "a0": { "op": "*", "eclass": "a", "cost": 3, "children": ["s0", "s0"] },
        "a1": { "op": "*4", "eclass": "a", "cost": 1, "children": ["q0"] },
        "q0": { "op": "sq", "eclass": "q", "cost": 4, "children": ["x0"] },
        "s0": { "op": "+", "eclass": "s", "children": ["x0", "x0"] },
        "s1": { "op": "gone", "eclass": "s", "cost": 0, "subsumed": true },
        "x0": { "op": "x", "eclass": "x", "cost": 0 }
    },
    "root_eclasses": ["a"]
}"#;

fn solved(text: &str, roots: Option<&[String]>) -> (f64, Vec<(String, String)>) {
    let file = read(text, roots).expect("an e-graph");
    let found = extract(&file.graph, Method::Auto, &Limits::default(), None).expect("a choice");
    assert_eq!(found.status, Status::Optimal);
    (found.cost, names(&file, &found))
}

fn names(file: &Serialized, found: &Extraction) -> Vec<(String, String)> {
    let name = |pick: &Pick| match pick.block {
        Some(block) => (pick.eclass.to_string(), format!("{} in {block}", pick.node)),
        None => (pick.eclass.to_string(), pick.node.to_string()),
    };
    let mut names: Vec<_> = file.picks(&found.picks).iter().map(name).collect();
    names.sort();
    names
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

#[test]
fn a_class_counts_once_and_subsumed_nodes_never() {
    assert_eq!(solved(SHARED, None), (4.0, pairs(&[("a", "a0"), ("s", "s0"), ("x", "x0")])));
}

#[test]
fn roots_are_classes_or_nodes() {
    let roots = ["q".to_string(), "a1".to_string()];
    assert_eq!(solved(SHARED, Some(&roots)), (5.0, pairs(&[("a", "a1"), ("q", "q0"), ("x", "x0")])));
}

/// `s` is needed in a loop and in one of two cold arms; `x` is pinned to the entry.
fn with_blocks(roots: &str) -> String {
    let tree = format!(
        r#""block_tree": {{
            "blocks": [{{ "id": "entry" }}, {{ "id": "loop", "parent": "entry", "frequency": 10 }},
                       {{ "id": "arm", "parent": "entry", "frequency": 0.5 }}],
            "roots": [{roots}],
            "pinned": {{ "x0": "entry" }}
        }}, "root_eclasses""#
    );
    SHARED.replace("\"root_eclasses\"", &tree)
}

#[test]
fn a_value_is_computed_where_it_is_cheapest_for_all_of_its_uses() {
    // Only the arm: there, at half the price. In the loop: before it. In both: once before both.
    let arm = pairs(&[("s", "s0 in arm"), ("x", "x0 in entry")]);
    let entry = pairs(&[("s", "s0 in entry"), ("x", "x0 in entry")]);
    let (s_arm, s_loop) = (r#"{ "eclass": "s", "block": "arm" }"#, r#"{ "eclass": "s", "block": "loop" }"#);
    assert_eq!(solved(&with_blocks(s_arm), None), (0.5, arm));
    assert_eq!(solved(&with_blocks(s_loop), None), (1.0, entry.clone()));
    assert_eq!(solved(&with_blocks(&format!("{s_arm}, {s_loop}")), None), (1.0, entry));
    // Roots of the command line replace these; a class without a block stands in the first one.
    let roots = ["s@arm".to_string()];
    assert_eq!(solved(&with_blocks(s_loop), Some(&roots)).0, 0.5);
    assert_eq!(solved(&with_blocks(""), None).0, 4.0);
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let wrong = |text: &str| read(text, None).expect_err("a mistake").to_string();
    let blocks = |blocks: &str| with_blocks("").replace(r#"{ "id": "entry" }"#, blocks);
    let cases = [
        ("{".to_string(), "not an e-graph"),
        ("[]".into(), "not an e-graph"),
        (SHARED.replace("\"q0\"]", "\"nope\"]"), "node `a1` has the child `nope`"),
        (SHARED.replace("\"cost\": 3", "\"cost\": -3"), "node `a0` costs -3"),
        (SHARED.replace("[\"a\"]", "[]"), "no roots"),
        (SHARED.replace("[\"a\"]", "[\"nope\"]"), "root `nope` is neither a class nor a node"),
        (with_blocks(r#"{ "eclass": "s", "block": "nope" }"#), "names the block `nope`"),
        (with_blocks("").replace("\"x0\": \"entry\"", "\"nope\": \"entry\""), "names the node `nope`"),
        (with_blocks("").replace("\"x0\": \"entry\"", "\"x0\": \"nope\""), "pinned node `x0` names the block `nope`"),
        (with_blocks("").replace("\"frequency\": 10", "\"frequency\": -1"), "executed -1 times"),
        (with_blocks("").replace("\"frequency\": 10", "\"often\": 1"), "unknown field `often`"),
        (blocks(r#"{ "id": "entry", "parent": "late" }, { "id": "late" }"#), "`entry` must be listed after its parent"),
        (blocks(r#"{ "id": "entry" }, { "id": "entry" }"#), "`entry` is listed twice"),
    ];
    for (text, message) in cases {
        let said = wrong(&text);
        assert!(said.contains(message), "{said:?} for {message:?}");
    }
    let roots = ["a@loop".to_string()];
    assert!(read(SHARED, Some(&roots)).expect_err("no tree").to_string().contains("has no `block_tree`"));
}

#[test]
fn a_root_that_cannot_be_made_is_an_error() {
    let text =
        SHARED.replace(r#""op": "x", "eclass": "x", "cost": 0"#, r#""op": "x", "eclass": "x", "children": ["a0"]"#);
    let file = read(&text, None).expect("an e-graph");
    assert_eq!(extract(&file.graph, Method::Greedy, &Limits::default(), None), Err(Unconstructible));
}

#[test]
fn a_class_is_had_once_however_many_blocks_use_it() {
    let roots: Vec<String> = (0..3).flat_map(|_| ["a@loop", "a@arm", "s@entry"].map(String::from)).collect();
    let (cost, picks) = solved(&with_blocks(""), Some(&roots));
    assert_eq!(cost, 1.0 + 3.0);
    assert_eq!(picks.iter().filter(|(class, _)| class == "a").count(), 1);
}
