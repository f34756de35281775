#!/usr/bin/env bash
# The solver for symmetric matrices, and eigenvalues that are there: see README.md. Ends non-zero if what it claims does
# not happen.
source "$(dirname "$0")/../story.sh"
library eigen.c -lopenblas
# One thread: the story is about methods, not cores.
export OPENBLAS_NUM_THREADS=1

echo "== The pack holds what its examples say"
check eigen.rw
check axes.rw
echo "== Their rules hold on values that they say how to make, but for rounding"
verified eigen.rw
verified axes.rw

"$rewright" opt input.ir --rules eigen.rw "${allow[@]}" --stats -o after.ir 2>stats
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

echo "== The same values, but for 1e-6 of each: least, largest and sum of the eigenvalues of 200 x 200; least one,"
echo "   trace and determinant of 6 x 6"
# The two methods round otherwise.
for call in "product_values 200" "basis_values 200" "trace_and_determinant 6"; do
    # shellcheck disable=SC2086
    "$rewright" run input.ir --rules eigen.rw "${allow[@]}" --compare=1 --tolerance 1e-6 --fn $call 2>/dev/null >both ||
        { cat both; fail "%$call gives the same"; }
    grep -E '^(before|after)' both | sed 's/ms .*\[/ms [/'
done

echo "== The time for 200 x 200, in turn: dgeev and dsyev"
for function in product_values basis_values; do
    "$rewright" run input.ir --rules eigen.rw "${allow[@]}" --compare=11 --tolerance 1e-6 --fn "$function" 200 2>/dev/null >times ||
        fail "%$function gives the same"
    echo "%$function"
    cat times
    awk '/^ratio/ { found = 1; exit !($2 > 1) } END { if (!found) exit 1 }' times || fail "%$function is faster"
done
echo "== Eigenvalues and three eigenvectors of 8 x 8: one decomposition pays for all, for none of them alone"
"$rewright" bench --sharing axes.ir --rules axes.rw "${allow[@]}" --iterations 300 --repeat 11 --tolerance 1e-6 | tee shared
awk '$1 == "ours" { cost = $3; instructions = $5; next }
    /ratio/ { others++; match($0, /ratio [0-9.]+/)
        if (cost >= $3 || instructions >= $5 || substr($0, RSTART + 6, RLENGTH - 6) <= 1) bad = 1 }
    END { exit bad || others != 3 }' shared || fail "%axes_of is cheaper, shorter and faster than others make it"
echo "story: as claimed"
