#!/usr/bin/env bash
# Moves that cancel: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
library shapes.c -lm
allow+=(--allow-link libm.so.6)

echo "== The packs hold what their examples say"
check shapes.rw pack.rw

echo "== Before"
body input.ir moved
echo "== After"
"$rewright" opt input.ir --rules pack.rw "${allow[@]}" --stats --remarks -o after.ir 2>stats
body after.ir moved
sed -n '/^%moved: /,/^%made: /p' stats | grep -E '^%moved|left out' | cut -d, -f1,2
expect after.ir moved '=' 0
expect after.ir moved 'return v0$' 1
[ "$(grep -c 'is left out by' <(sed -n '/^%moved: /,/^%made: /p' stats))" = 4 ] || fail "four statements are left out"
line=$(grep -n 'unsafe rule turns' pack.rw | cut -d: -f1)
input=$(grep -n ' = rotate ' input.ir | sed -n 2p | cut -d: -f1)
grep -qF "\`rotate\` (2 of 2) in line $input is left out by transforms.moves.turns (pack.rw:$line)" stats ||
    fail "the remark names the lines"

echo "== Without the unsafe rules: the numbers are known, every statement stays"
"$rewright" opt input.ir --rules shapes.rw "${allow[@]}" -o careful.ir
body careful.ir moved
expect careful.ir moved ' = \(translate\|rotate\) ' 4
expect careful.ir moved 'cos\|sin\|fmul' 0

echo "== The same rules without the word are refused"
grep -v 'removes allocates\|because' pack.rw | sed 's/unsafe rule/rule/' >plain.rw
if "$rewright" check plain.rw 2>refused; then fail "a plain rule may drop no effect"; fi
[ "$(grep -c '^\[RW0309\] Error: this rule drops' refused)" = 4 ] || fail "all four are refused"
grep -m1 '^\[RW0309\]' refused

echo "== It runs: shapes made, and the time for one of 100,000 corners"
if "$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare=1 --fn made 100 >made 2>/dev/null; then
    fail "fewer shapes are made"
fi
grep -qE '^before .*\[4, ' made && grep -qE '^after .*\[0, ' made || fail "four shapes before, none after: $(cat made)"
"$rewright" run input.ir --rules pack.rw "${allow[@]}" --compare --fn same 100000
echo "story: as claimed"
