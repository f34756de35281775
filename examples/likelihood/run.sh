#!/usr/bin/env bash
# Logarithms and exponentials of libm: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
allow=(--allow-link libm.so.6)

echo "== The pack holds what its examples say"
check pack.rw
echo "== Its rules hold on positive numbers, but for rounding"
verified pack.rw

echo "== Both programs print the same"
compiled pack.rw -lm
for kind in plain ruled; do "$out/$kind" >"$out/$kind.sums"; done
cmp "$out/plain.sums" "$out/ruled.sums" || fail "the sums differ"
echo "calls of log and exp: $(calls plain 'log|exp') without rules, $(calls ruled 'log|exp') with them"
[ "$(calls ruled 'log|exp')" -lt "$(calls plain 'log|exp')" ] || fail "logarithms and exponentials are joined"

echo "== Gain"
gain
echo "story: as claimed"
