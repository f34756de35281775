#!/usr/bin/env bash
# The solver for symmetric matrices, and eigenvalues that are there: see README.md. Ends non-zero if what it claims does
# not happen.
source "$(dirname "$0")/../story.sh"
library eigen.c -lopenblas
# One thread: the story is about methods, not cores.
export OPENBLAS_NUM_THREADS=1

echo "== The pack holds what its examples say"
check pack.rw

"$rewright" opt input.ir --rules pack.rw --stats -o after.ir 2>stats
for function in of_product of_basis spread; do
    echo "== Before"
    body input.ir "$function"
    echo "== After"
    body after.ir "$function"
done
grep -E '^%(of_product|of_basis|of_any|spread|apart): ' stats | cut -d, -f1,2

# `eigen.1` is the overload for symmetric matrices; it runs where its operand is one.
expect after.ir of_product ' = gram' 1
expect after.ir of_product ' = eigen\.1' 1
expect after.ir of_product ' = \(adj\|mul\|eigen\.0\)' 0
expect after.ir of_basis ' = congruent' 1
expect after.ir of_basis ' = eigen\.1' 1
expect after.ir of_basis ' = \(adj\|mul\|eigen\.0\)' 0
# Where nothing is known of B, the general method stays.
expect after.ir of_any ' = eigen\.0' 1
expect after.ir of_any ' = mul' 2
expect after.ir of_any 'Symmetric' 0
# Eigenvalues that dominate tell trace and determinant; those of another branch do not.
expect after.ir spread ' = \(total\|multiplied\)' 2
expect after.ir spread ' = \(trace\|det\)' 0
expect after.ir apart ' = \(total\|multiplied\)' 0
expect after.ir apart ' = \(trace\|det\)' 2

# same FUNCTION N: what both versions give differs by less than 1e-10 of its largest part.
same() {
    # The comparison itself is exact, and the two methods round otherwise.
    "$rewright" run input.ir --rules pack.rw --compare=1 --fn "$1" "$2" >both 2>/dev/null || true
    grep -q '^before ' both && grep -q '^after ' both || { cat both; fail "%$1 runs"; }
    local side
    for side in before after; do
        # shellcheck disable=SC2046
        printf '%.17g ' $(sed -nE "s/^$side .*\[(.*)\]/\1/p" both | tr -d ,)
        echo
    done | awk -v name="$1" '
        { for (i = 1; i <= NF; i++) { v[NR, i] = $i; m = $i < 0 ? -$i : $i; if (m > largest) largest = m } n = NF }
        END {
            for (i = 1; i <= n; i++) { d = v[1, i] - v[2, i]; if (d < 0) d = -d; if (d > worst) worst = d }
            printf "%%%s: differs by %.1e of the largest part\n", name, worst / largest
            exit !(n > 0 && largest > 0 && worst <= 1e-10 * largest)
        }' || fail "%$1 gives the same"
}
echo "== The same values: least, largest and sum of the eigenvalues of 200 x 200; trace and determinant of 6 x 6"
same product_values 200
same basis_values 200
same trace_and_determinant 6

echo "== The time for 200 x 200, in turn: dgeev and dsyev"
for function in product_values basis_values; do
    "$rewright" run input.ir --rules pack.rw --compare=11 --fn "$function" 200 2>/dev/null >times || true
    echo "%$function"
    cat times
    awk '/^ratio/ { found = 1; exit !($2 > 1) } END { if (!found) exit 1 }' times || fail "%$function is faster"
done
echo "story: as claimed"
