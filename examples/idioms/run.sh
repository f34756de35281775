#!/usr/bin/env bash
# Five idioms: see README.md. Ends non-zero if what it claims does not happen.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --quiet --manifest-path ../../Cargo.toml --bin rewright
rewright="$(cargo metadata --quiet --manifest-path ../../Cargo.toml --format-version 1 --no-deps |
    sed -E 's/.*"target_directory":"([^"]*)".*/\1/')/debug/rewright"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "story: $*" >&2; exit 1; }

echo "== The pack holds what its examples say"
# Functions that only the input uses are "never used" to the pack.
"$rewright" check pack.rw 2>/dev/null

"$rewright" opt input.ir --rules pack.rw --stats -o "$out/after.ir" 2>"$out/stats"
one() { sed -n "/^func %$1 /,/^}/p" "$out/after.ir"; }
count() { one "$1" | grep -c -- "$2" || true; }
expect() {
    [ "$(count "$1" "$2")" = "$3" ] || { one "$1" >&2; fail "%$1 has $3 times \`$2\`"; }
}
echo "== After"
for f in keyword character checked arithmetic typed; do one "$f"; done
grep -E '^%(keyword|character|checked|arithmetic|typed): optimised' "$out/stats" | cut -d, -f1,2

expect keyword ' = dot ' 1
expect keyword 'norm' 0
expect character 'mul{' 1
expect character 'transpose{' 1
expect character 'gemm' 0
expect checked ' = dot ' 1
expect checked 'inner' 0
expect arithmetic 'ishl\|imul' 1
expect arithmetic 'scaled' 0
expect typed 'largest.1{' 1
expect typed 'spectrum\|transpose' 0
expect norm ' = dot ' 1
echo "story: as claimed"
