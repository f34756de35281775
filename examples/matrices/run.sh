#!/usr/bin/env bash
# Loops over matrices: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
library matrices.c

echo "== The pack holds what its examples say"
check pack.rw

echo "== Before"
body input.ir weighted
echo "== After: the loop is gone"
"$rewright" opt input.ir --rules pack.rw "${allow[@]}" --remarks -o after.ir 2>remarks
body after.ir weighted
expect after.ir weighted '= mscale ' 1
expect after.ir weighted 'madd\|jump\|br ' 0
sed -n '/^%weighted: /,/^%mixed: /p' remarks | grep '  loop 1: .*; is gone$' || fail "a remark says so"

echo "== Where each multiple is looked at, the loop stays, and adds instead"
body after.ir mixed
expect after.ir mixed '= madd ' 1
expect after.ir mixed 'mscale' 1
sed -n '/^%mixed: /,/^%check_weighted: /p' remarks | grep '  loop 1: .*gets 1 msum' || fail "a remark says so"

echo "== It runs, and gives the same; matrices made, and the time for 300 multiples"
if "$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare=1 --fn made 300 >made 2>/dev/null; then
    fail "fewer matrices are made"
fi
grep -qE '^before .* 601$' made && grep -qE '^after .* [01]$' made || fail "601 matrices before, one after: $(cat made)"
for n in 0 1 2 7; do
    "$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare=1 --fn check_weighted "$n" >/dev/null
    "$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare=1 --fn check_mixed "$n" >/dev/null
done
"$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare --fn check_weighted 300
"$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare --fn check_mixed 300
echo "story: as claimed"
