//! `bench`: its curves as a page, and what it says of files with nothing in them.

use crate::ran::rewright;
use std::fs;

const FUNCTION: &str = "function %f(i32, i32) -> i32 {\nblock0(v0: i32, v1: i32):\n    v2 = iadd v0, v1\n    v3 = isub v2, v1\n    \
                        return v3\n}\n; run: %f(1, 2) == 1\n";

#[test]
fn curves_are_drawn_beside_cranelift() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), FUNCTION).unwrap();
    for (what, title, series) in [
        ("--curve 30 --repeat 1", "Time from text to text", 2),
        ("--long 10,20 --seeds 2", "Cost per function", 3),
        ("f.clif --repeat 1", "Cost by function", 3),
    ] {
        let ran = rewright(dir.path(), &format!("bench {what} --report page.html --threads 1"));
        assert!(ran.code == Some(0) && !ran.stdout.is_empty(), "{ran:?}");
        let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
        let figure = page.split("<figure>").find(|figure| figure.contains(title)).unwrap();
        assert!(
            figure.contains("<svg") && figure.contains("Cranelift's mid-end") && figure.contains("Rewright"),
            "{page}"
        );
        assert_eq!(figure.matches("swatch").count(), series, "{figure}");
        assert!(figure.contains("<circle") && !page.contains("NaN") && !page.contains("<script"), "{figure}");
        let json = rewright(dir.path(), &format!("bench {what} --format json --threads 1")).stdout;
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }
    let ran = rewright(dir.path(), "bench --loops f.clif --report page.html");
    assert!(ran.code == Some(2) && ran.stderr.contains("--report"), "{ran:?}");
    let ran = rewright(dir.path(), "bench f.clif --report no/such/folder.html");
    assert!(ran.code == Some(2) && ran.stderr.contains("no/such"), "{ran:?}");
}

#[test]
fn all_that_is_compared_with_cranelift_is_in_one_table() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), FUNCTION).unwrap();
    let table = |more: &str| -> Vec<serde_json::Value> {
        let ran = rewright(dir.path(), &format!("bench f.clif --repeat 1 --threads 1 --format json {more}"));
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        json["table"].as_array().unwrap().clone()
    };
    let row = |table: &[serde_json::Value], figure: &str| {
        let found = table.iter().find(|row| row["figure"] == figure);
        found.unwrap_or_else(|| panic!("no row {figure} in {table:?}")).clone()
    };
    let usual = table("");
    assert_eq!(row(&usual, "executed instructions")["not_measured"], "`--native`");
    // Both see that nothing is left to do.
    assert_eq!(row(&usual, "cost by Cranelift's own table")["ratio"], 1.0);
    assert_eq!(row(&usual, "functions that are dearer")["count"], 0);
    for method in ["auto", "greedy"] {
        for what in ["files, sum", "functions alone, sum", "functions alone, median"] {
            assert!(row(&usual, &format!("time, {method}, {what}"))["ratio"].as_f64().unwrap() > 0.0);
        }
    }
    let native = table("--native");
    assert_eq!(row(&native, "executed instructions")["ratio"], 1.0);
    let greedy = table("--extract greedy");
    assert_eq!(row(&greedy, "time, auto")["not_measured"], "`--extract auto`");
    let text = rewright(dir.path(), "bench f.clif --repeat 1 --threads 1").stdout;
    let last = text.trim_end().lines().last().unwrap();
    assert!(
        last.starts_with("executed, Cranelift's pass after ours") && last.ends_with("not measured: `--native`"),
        "{text}"
    );
}

#[test]
fn files_without_functions_are_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), FUNCTION).unwrap();
    fs::write(dir.path().join("empty.clif"), "; nothing\n").unwrap();
    let ran = rewright(dir.path(), "bench --loops empty.clif f.clif");
    assert!(ran.code == Some(0) && ran.stderr.contains("warning: empty.clif has no functions"), "{ran:?}");
}

/// What wasmtime's front end makes of a function that fills its linear memory, calls another one and has a stack.
const OF_WEBASSEMBLY: &str = r#"function u0:0(i64 vmctx, i64, i32) -> i32 tail {
    region0 = 603979776 "VMMemoryDefinition+0x0"
    region1 = 134217728 "PublicMemory"

block0(v0: i64, v1: i64, v2: i32):
    v3 = uextend.i64 v2
    v4 = load.i64 notrap aligned readonly can_move region0 v0+56
    v5 = iadd v4, v3
    v6 = load.i32 little region1 v5
    v7 = iconst.i32 0
    v8 = iadd v6, v7
    return v8
}

function u0:1(i64 vmctx, i64) -> i32 tail {
    region0 = 8 "VMContext+0x8"
    region1 = 67108888 "VMStoreContext+0x18"
    region2 = 469762048 "DefinedGlobal(StaticModuleIndex(0), DefinedGlobalIndex(0))"
    region3 = 603979776 "VMMemoryDefinition+0x0"
    region4 = 134217728 "PublicMemory"
    gv0 = vmctx
    gv1 = load.i64 notrap aligned readonly can_move region0 gv0+8
    gv2 = load.i64 notrap aligned region1 gv1+24
    sig0 = (i64 vmctx, i64, i32) -> i32 tail
    fn0 = colocated u0:0 sig0
    stack_limit = gv2

block0(v0: i64, v1: i64):
    v2 = load.i32 notrap aligned region2 v0+96
    v3 = iconst.i32 16
    v4 = isub v2, v3
    v5 = uextend.i64 v4
    v6 = load.i64 notrap aligned readonly can_move region3 v0+56
    v7 = iadd v6, v5
    v8 = iconst.i32 41
    store little region4 v8, v7
    v9 = call fn0(v0, v0, v4)
    v10 = iconst.i32 1
    v11 = iadd v9, v10
    return v11
}

function u0:2(i64 vmctx, i64) -> i32 tail {
    region0 = 1275068416 "VMMemoryImport+0x0"

block0(v0: i64, v1: i64):
    v2 = load.i64 notrap aligned readonly can_move region0 v0+200
    v3 = load.i32 v2
    return v3
}
"#;

#[test]
fn functions_that_are_called_are_run_in_all_versions() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), FUNCTION).unwrap();
    fs::write(dir.path().join("wasm.clif"), OF_WEBASSEMBLY).unwrap();
    let ran = rewright(dir.path(), "bench --native f.clif wasm.clif --threads 1");
    assert!(
        ran.code == Some(0) && ran.stdout.contains("3 run in all versions, 2 of them compiled, too; 0 DIFFERENT"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("only interpreted: trap"), "a context has no imports: {ran:?}");
    let json = rewright(dir.path(), "bench --native f.clif wasm.clif --threads 1 --format json").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let called = &json["files"][1]["functions"][0];
    assert_eq!((called["name"].as_str(), called["difference"].as_str()), (Some("u0:1"), None), "{json}");
    let executed = |version: &str| called["versions"][version]["executed"].as_u64().unwrap();
    assert!(executed("ours") < executed("original"), "{json}");

    let wrong =
        "pack wrong\nimport std.core\nruleset wrong {\n  rule forgets{T <: Int}(x: T, y: T): isub(x, y) => x\n}\n";
    fs::write(dir.path().join("wrong.rw"), wrong).unwrap();
    let ran = rewright(dir.path(), "bench --native f.clif --rules wrong.rw --threads 1");
    let said = "DIFFERENT: ours, interpreted, gives 3; the original gives 1";
    assert!(ran.code == Some(1) && ran.stdout.contains(said) && ran.stdout.contains("1 DIFFERENT"), "{ran:?}");
}
