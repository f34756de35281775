#!/usr/bin/env bash
# The first story: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The pack holds what its examples say"
check pack.rw

echo "== Before"
body input.clif blend
echo "== After"
"$rewright" opt input.clif --rules pack.rw --stats -o "$out/after.clif" 2>"$out/stats"
body "$out/after.clif" blend

echo "== What it saved (static cost, in twelfths of a simple instruction)"
grep -E '^%(blend|modulate|lit): optimised' "$out/stats"

echo "== Every directive of the file gives the same before and after"
"$rewright" difftest input.clif --rules pack.rw

expect input.clif blend imul 2
expect "$out/after.clif" blend imul 1
expect "$out/after.clif" blend umin 0
expect "$out/after.clif" modulate udiv 0
"$rewright" opt input.clif --fn blend -o "$out/std.clif"
expect "$out/std.clif" blend imul 2 # the standard packs alone do not do it
before=$("$rewright" run input.clif --fn blend 100 50 64)
[ "$before" = "62" ] || fail "blend(100, 50, 64) is 62, not $before"
echo "story: as claimed"
