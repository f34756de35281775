#!/usr/bin/env bash
# Whether, then where: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"
# Paths of libraries are relative to the pack.
cp pack.rw input.ir "$out"
cc -O1 -shared -fPIC -o "$out/libsearch.so" search.c

echo "== The pack holds what its examples say"
check "$out/pack.rw"

echo "== After"
"$rewright" opt "$out/input.ir" --rules "$out/pack.rw" --stats -o "$out/after.ir" 2>"$out/stats"
body "$out/after.ir" place
grep -E '^%place: optimised' "$out/stats" | cut -d, -f1,2
# Where it is wanted anyway, one search; where only asked whether, nothing changes.
expect "$out/after.ir" place contains 0
expect "$out/after.ir" place index_of 1
expect "$out/after.ir" known contains 1
expect "$out/after.ir" known index_of 0

echo "== It runs"
[ "$("$rewright" run "$out/input.ir" --rules "$out/pack.rw" --fn main 13)" = "[2, 1]" ] || fail "13 is third"
[ "$("$rewright" run "$out/input.ir" --rules "$out/pack.rw" --fn main 7)" = "[-1, 0]" ] || fail "7 is not there"
echo "story: as claimed"
