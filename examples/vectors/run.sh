#!/usr/bin/env bash
# Temporaries of a ray tracer: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The pack holds what its examples say"
check pack.rw

echo "== Both programs draw the same"
compiled pack.rw -lm
for kind in plain ruled; do "$out/$kind" >"$out/$kind.picture" 2>"$out/$kind.vectors"; done
cmp "$out/plain.picture" "$out/ruled.picture" || fail "the pictures differ"
before=$(cat "$out/plain.vectors") after=$(cat "$out/ruled.vectors")
echo "vectors made: $before without rules, $after with them"
[ $((after * 2)) -lt "$before" ] || fail "half of the vectors go"

echo "== Gain"
gain
echo "story: as claimed"
