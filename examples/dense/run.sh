#!/usr/bin/env bash
# One call for a dense layer: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
library dense.c -lopenblas
allow+=(--allow-link libopenblas.so.0)
# One thread: the story is about calls, not cores.
export OPENBLAS_NUM_THREADS=1

echo "== The pack holds what its examples say"
check pack.rw
echo "== Its rules hold on values that it says how to make"
verified pack.rw

echo "== Before"
body input.ir layer
echo "== After"
"$rewright" opt input.ir --rules pack.rw "${allow[@]}" --extract ilp --stats --remarks -o after.ir 2>stats
body after.ir layer
body after.ir inferred
grep -E '^%(layer|inferred): ' stats | cut -d, -f1,2
grep 'left out' stats
# Only training wants the product and the sum; the other branch is one call.
expect after.ir layer ' = mul ' 1
expect after.ir layer ' = add_bias ' 1
expect after.ir layer ' = activate ' 1
expect after.ir layer ' = dense ' 1
expect after.ir layer ' = bias_act ' 0
grep -qF '`mul` in line 4 is executed below a branch' stats || fail "a remark says that the product moves"
# Where nothing is trained, all of it is one call.
expect after.ir inferred ' = dense ' 1
expect after.ir inferred ' = \(mul\|add_bias\|activate\|bias_act\|layer\) ' 0

echo "== It runs: matrices made by the layer without training, with training, and by the one that never trains"
made() { "$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare=1 --fn "$@" 2>/dev/null || true; }
for call in "made 0:3:1" "made 1:4:4" "made_inferred:3:1"; do
    IFS=: read -r call before after <<<"$call"
    # shellcheck disable=SC2086
    made $call >made
    grep -qE "^before .*\[$before, 64\]$" made && grep -qE "^after .*\[$after, 64\]$" made || { cat made; fail "$call"; }
    echo "%$call: $before -> $after"
done

echo "== The time of 64 x 16 times 16 x 20000, in turn"
"$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare --fn infer 64 16 20000

echo "== Time by phase, and the integer program"
"$rewright" bench --stories --repeat 1 "$OLDPWD"
echo "story: as claimed"
