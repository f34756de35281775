#!/usr/bin/env bash
# E-graphs that `opt --emit json` prints, read by egraph-serialize's own crate: the numbers of nodes, classes and roots of
# each file. The crate is built beside the workspace, because its features would change how others print JSON.
# scripts/egraph.sh [FILE..]
set -euo pipefail
cd "$(dirname "$0")/.."
rewright=${REWRIGHT:-target/debug/rewright}
files=("${@:-tests/clif/arith.clif}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat >"$work/Cargo.toml" <<'TOML'
[package]
name = "reader"
version = "0.1.0"
edition = "2024"

[dependencies]
egraph-serialize = { version = "=0.3.0", default-features = false, features = ["serde"] }

[workspace]
TOML
cat >"$work/src/main.rs" <<'RUST'
fn main() {
    for path in std::env::args().skip(1) {
        let egraph = egraph_serialize::EGraph::from_json_file(&path).expect("it is egraph-serialize's format");
        assert!(!egraph.nodes.is_empty() && !egraph.root_eclasses.is_empty(), "{path}: nothing in it");
        let classes = egraph.classes();
        assert!(egraph.root_eclasses.iter().chain(egraph.class_data.keys()).all(|class| classes.contains_key(class)));
        assert!(egraph.nodes.values().flat_map(|node| &node.children).all(|child| egraph.nodes.contains_key(child)));
        let (nodes, roots) = (egraph.nodes.len(), egraph.root_eclasses.len());
        println!("{path}: {nodes} nodes in {} classes, {roots} roots", classes.len());
    }
}
RUST
printed=()
for file in "${files[@]}"; do
    for name in $("$rewright" opt "$file" --stats --format json -o /dev/null 2>&1 | sed 's/.*"functions":/\n&/' |
        grep -o '"name":"[^"]*"' | cut -d'"' -f4 | sort -u); do
        out=$work/${#printed[@]}.json
        "$rewright" opt "$file" --fn "$name" --emit json -o "$out"
        printed+=("$out")
    done
done
CARGO_TARGET_DIR=$work/target cargo run --quiet --manifest-path "$work/Cargo.toml" -- "${printed[@]}"
