#!/usr/bin/env bash
# Whether, then where, in C: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The pack holds what its examples say"
check pack.rw

echo "== Both programs find the same"
compiled pack.rw
for kind in plain ruled; do "$out/$kind" >"$out/$kind.sum" 2>"$out/$kind.searches"; done
cmp "$out/plain.sum" "$out/ruled.sum" || fail "the sums differ"
before=$(cat "$out/plain.searches") after=$(cat "$out/ruled.searches")
echo "searches: $before without rules, $after with them"
[ "$after" = 30000000 ] || fail "there is one search for each number"

echo "== Gain"
gain
echo "story: as claimed"
