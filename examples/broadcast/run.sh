#!/usr/bin/env bash
# One pass instead of six: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
library broadcast.c

echo "== The pack holds what its examples say"
check pack.rw

echo "== Before"
body input.ir lines
echo "== After"
"$rewright" opt input.ir --rules pack.rw "${allow[@]}" --stats --remarks -o after.ir 2>stats
body after.ir lines
sed -n '/^%lines: /,/^%sum: /p' stats | grep -E '^%lines|left out' | cut -d, -f1,2
expect input.ir lines ' = materialize ' 6
expect after.ir lines ' = materialize ' 1
expect after.ir lines ' = bcast' 6

echo "== It runs: vectors and passes over memory"
if "$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare=1 --fn counted 1000 >counted 2>/dev/null; then
    fail "fewer vectors are made"
fi
cat counted
grep -qE '^before .*\[6, 6, ' counted || fail "before, six vectors and six passes"
grep -qE '^after .*\[1, 1, ' counted || fail "after, one vector and one pass"

echo "== The time for 4,000,000 elements, in turn"
"$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare --fn sum 4000000
echo "story: as claimed"
