#!/usr/bin/env bash
# The first story: see README.md. Ends non-zero if what it claims does not happen.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --quiet --manifest-path ../../Cargo.toml --bin rewright
rewright="$(cargo metadata --quiet --manifest-path ../../Cargo.toml --format-version 1 --no-deps |
    sed -E 's/.*"target_directory":"([^"]*)".*/\1/')/debug/rewright"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "story: $*" >&2; exit 1; }

echo "== The pack holds what its examples say"
"$rewright" check pack.rw

echo "== Before"
sed -n '/^function %blend/,/^}/p' input.clif
echo "== After"
"$rewright" opt input.clif --rules pack.rw --stats -o "$out/after.clif" 2>"$out/stats"
sed -n '/^function %blend/,/^}/p' "$out/after.clif"

echo "== What it saved (static cost, in twelfths of a simple instruction)"
grep -E '^%(blend|modulate|lit): optimised' "$out/stats"

echo "== Every directive of the file gives the same before and after"
"$rewright" difftest input.clif --rules pack.rw

[ "$(sed -n '/^function %blend/,/^}/p' input.clif | grep -c imul)" = 2 ] || fail "the original has two products"
[ "$(sed -n '/^function %blend/,/^}/p' "$out/after.clif" | grep -c imul)" = 1 ] || fail "one product is left"
if sed -n '/^function %blend/,/^}/p' "$out/after.clif" | grep -q umin; then fail "the clamp is gone"; fi
if sed -n '/^function %modulate/,/^}/p' "$out/after.clif" | grep -q udiv; then fail "the division is gone"; fi
"$rewright" opt input.clif --fn blend -o "$out/std.clif"
[ "$(sed -n '/^function %blend/,/^}/p' "$out/std.clif" | grep -c imul)" = 2 ] || fail "the standard packs alone do not do it"
before=$("$rewright" run input.clif --fn blend 100 50 64)
[ "$before" = "62" ] || fail "blend(100, 50, 64) is 62, not $before"
echo "story: as claimed"
