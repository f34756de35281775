#!/usr/bin/env bash
# Whether, then where: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
library search.c

echo "== The pack holds what its examples say"
check pack.rw

echo "== After"
"$rewright" opt input.ir --rules pack.rw "${allow[@]}" --stats -o after.ir 2>stats
body after.ir place
grep -E '^%place: optimised' stats | cut -d, -f1,2
# Where it is wanted anyway, one search; where only asked whether, nothing changes.
expect after.ir place contains 0
expect after.ir place index_of 1
expect after.ir known contains 1
expect after.ir known index_of 0

echo "== It runs"
[ "$("$rewright" run input.ir --rules pack.rw "${allow[@]}" --fn main 13)" = "[2, 1]" ] || fail "13 is third"
[ "$("$rewright" run input.ir --rules pack.rw "${allow[@]}" --fn main 7)" = "[-1, 0]" ] || fail "7 is not there"
echo "story: as claimed"
