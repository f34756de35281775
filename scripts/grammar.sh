#!/bin/sh
# The tree-sitter grammar: its tests, its generated parser, and every pack that must parse. Wants `tree-sitter`
# (`cargo install tree-sitter-cli --locked`), and a C compiler.
set -eu
cd "$(dirname "$0")/../editors/tree-sitter-rewright"

packs=$(mktemp)
trap 'rm -f "$packs"' EXIT

tree-sitter generate
git diff --exit-code -- src || { echo "the generated parser is not that of grammar.js: commit it"; exit 1; }
tree-sitter test
# All packs of the repository, except for those that are there to show errors of syntax (RW01..).
(cd ../.. && git ls-files '*.rw') | while read -r pack; do
    case $pack in dsl/src/codes/examples/RW01*) continue ;; esac
    grep -qs '^\[RW01' "../../${pack%.rw}.stderr" || echo "../../$pack"
done > "$packs"
tree-sitter parse --quiet --paths "$packs"
tree-sitter query queries/highlights.scm ../../stdlib_rules/std/arith.rw > /dev/null
tree-sitter query queries/locals.scm ../../stdlib_rules/std/arith.rw > /dev/null
echo "$(wc -l < "$packs") packs parse"
