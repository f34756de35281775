#!/usr/bin/env bash
# Textbook formulas on libm: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

functions='sincos|sin|cos|tan|atan|exp|pow|sqrt'
for pack in std.libm std.libm_fast; do
    echo "== $pack"
    compiled $pack -lm
    for kind in plain ruled; do "$out/$kind" >"$out/$kind.places"; done
    echo "calls of libm: $(calls plain $functions) without rules, $(calls ruled $functions) with them"
    [ "$(calls ruled $functions)" -lt "$(calls plain $functions)" ] || fail "calls go"
    # Of each number, to the larger of the two.
    error=$(paste "$out/plain.places" "$out/ruled.places" | awk '{ for (i = 1; i <= NF / 2; i++) {
        a = $i; b = $(i + NF / 2); d = (a - b) / (a > b ? a : b); if (d < 0) d = -d; if (d > worst) worst = d } } END { print worst + 0 }')
    echo "largest relative difference: $error"
    case $pack in
    std.libm) cmp "$out/plain.places" "$out/ruled.places" || fail "the exact pack changes no bit" ;;
    *) awk -v e="$error" 'BEGIN { exit e >= 1e-12 }' || fail "the difference is in the last digits" ;;
    esac
    gain
done
echo "story: as claimed"
