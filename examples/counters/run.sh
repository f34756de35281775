#!/usr/bin/env bash
# Everyday loops of a C program: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The same output, with rules and without"
compiled std.loops
for counts in 0 1 7 '1000 1' '20000 20'; do
    read -ra counts <<<"$counts"
    cmp <("$out/plain" "${counts[@]}") <("$out/ruled" "${counts[@]}") || fail "the same for ${counts[*]}"
done

echo "== What became of each loop"
"$rewright" cc --rules std.loops --no-cache --keep "$out/ir" -O2 -c main.c -o "$out/kept.o"
before=$(ls "$out"/ir/*.ll) after=$out/after.ll
"$rewright" opt "$before" --rules std.loops --remarks -o "$after" 2>"$out/remarks"
# remarked FUNCTION TEXT: what `--remarks` says of the function's only loop, and what it ends with.
remarked() {
    local said
    said=$(sed -n "/^@$1: /,/^@/s/^  loop 1: //p" "$out/remarks")
    echo "$1: $said"
    [[ $said == *"$2" ]] || fail "a remark says of $1: $2"
}
remarked charged 'carries 2 sum; goes on while icmp_slt holds, and ends; is gone'
remarked scale 'gets 1 sum; stays: it writes memory, and no rule can say what it leaves behind there'
remarked fingerprint 'gets 1 product; stays: what it leaves behind has no other form'
remarked newest_first 'goes on while icmp_sgt holds, and ends; stays: what it leaves behind has no other form'
remarked first_above 'stays: it has several exits'

# has FILE FUNCTION PATTERN N: N lines of a function of LLVM IR match.
has() {
    local n
    n=$(sed -n "/^define .*@$2(/,/^}/p" "$1" | grep -c -- "$3" || true)
    [ "$n" = "$4" ] || fail "@$2 of $1 has $n lines with \`$3\`, not $4"
}
has "$before" charged ' = phi ' 2 && has "$after" charged ' = phi ' 0
has "$before" scale ' = mul ' 1 && has "$after" scale ' = mul ' 0
has "$before" fingerprint ' = mul ' 2 && has "$after" fingerprint ' = mul ' 1

echo "== Why one stays as it is, and why another one changed"
"$rewright" why-not leaving.closed "$before" --rules std.loops --fn first_above | tee "$out/why"
grep -q 'loop 1: .*; stays: it has several exits$' "$out/why" || fail "why-not names the exits"
"$rewright" why-not entering.grown "$before" --rules std.loops --fn fingerprint | tee "$out/why"
grep -q 'took part, and what was chosen is built upon it' "$out/why" || fail "why-not says that the rule is behind it"

echo "== What is gained, beyond clang -O2"
gain 20000 2000
echo "story: as claimed"
