#!/usr/bin/env bash
# Whether, then where: see README.md. Ends non-zero if what it claims does not happen.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --quiet --manifest-path ../../Cargo.toml --bin rewright
rewright="$(cargo metadata --quiet --manifest-path ../../Cargo.toml --format-version 1 --no-deps |
    sed -E 's/.*"target_directory":"([^"]*)".*/\1/')/debug/rewright"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "story: $*" >&2; exit 1; }
# Paths of libraries are relative to the pack.
cp pack.rw input.ir "$out"
cc -O1 -shared -fPIC -o "$out/libsearch.so" search.c

echo "== The pack holds what its examples say"
"$rewright" check "$out/pack.rw"

echo "== After"
"$rewright" opt "$out/input.ir" --rules "$out/pack.rw" --stats -o "$out/after.ir" 2>"$out/stats"
one() { sed -n "/^func %$1 /,/^}/p" "$out/after.ir"; }
one place
grep -E '^%place: optimised' "$out/stats" | cut -d, -f1,2
if one place | grep -q contains; then fail "%place searches once"; fi
[ "$(one place | grep -c index_of)" = 1 ] || fail "%place still asks where"
one known | grep -q contains || fail "%known only asks whether"
if one known | grep -q index_of; then fail "%known does not ask where"; fi

echo "== It runs"
[ "$("$rewright" run "$out/input.ir" --rules "$out/pack.rw" --fn main 13)" = "[2, 1]" ] || fail "13 is third"
[ "$("$rewright" run "$out/input.ir" --rules "$out/pack.rw" --fn main 7)" = "[-1, 0]" ] || fail "7 is not there"
echo "story: as claimed"
