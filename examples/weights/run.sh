#!/usr/bin/env bash
# Constant weights: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
printed=$(cargo run --quiet --manifest-path ../../Cargo.toml --example embedding)
echo "$printed"
after=${printed#*after:}
grep -q 'const \[5.0, -10.0, 20.0\]' <<<"$after" || fail "the weights are scaled at compile time"
if grep -q 'scale' <<<"${after%%before: score*}"; then fail "nothing is scaled in the emitted code"; fi
grep -q 'before: score = 45, vectors scaled at run time: 1' <<<"$printed" || fail "the original scales a vector"
grep -q 'after: score = 45, vectors scaled at run time: 0' <<<"$printed" || fail "the result scales none"
echo "story: as claimed"
