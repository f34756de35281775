#!/usr/bin/env bash
# Norms and products of a BLAS: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The pack holds what its examples say"
check pack.rw

echo "== Both programs print the same"
compiled pack.rw -lopenblas -lm
export OPENBLAS_NUM_THREADS=1
for kind in plain ruled; do "$out/$kind" >"$out/$kind.sums"; done
cmp "$out/plain.sums" "$out/ruled.sums" || fail "the sums differ"
echo "calls of the BLAS: $(calls plain "cblas_.*") without rules, $(calls ruled "cblas_.*") with them"
[ "$(calls ruled cblas_dnrm2)" = 0 ] || fail "norms are products"
[ "$(calls ruled "cblas_.*")" -lt "$(calls plain "cblas_.*")" ] || fail "products are shared"

echo "== Gain"
gain
echo "story: as claimed"
