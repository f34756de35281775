#!/usr/bin/env bash
# Two authors' packs in a third: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The packs hold what their examples say"
check pack.rw algebra.rw kernels.rw graphs.rw

# opt NAME PACKS..: optimises with these packs, and says what a function costs then.
opt() {
    local name=$1
    shift
    "$rewright" opt "${input:-input.ir}" "${@/#/--rules=}" --stats -o "$out/$name.ir" 2>"$out/$name.stats"
}
cost() { sed -nE "s/^%$2: .*cost [0-9]+ -> ([0-9]+) .*/\1/p" "$out/$1.stats"; }

opt ada algebra.rw
opt bob kernels.rw
opt both pack.rw
echo "== Before"
body input.ir product
echo "== After"
body "$out/both.ir" product
for f in product sum; do
    echo "cost of %$f with Ada's pack $(cost ada $f), with Bob's $(cost bob $f), with both $(cost both $f)"
    [ "$(cost both $f)" -lt "$(cost ada $f)" ] || fail "%$f needs Bob's kernels"
    [ "$(cost both $f)" -lt "$(cost bob $f)" ] || fail "%$f needs Ada's algebra"
done
expect "$out/both.ir" product gemm_tn 1
expect "$out/both.ir" product 'transpose\|mul' 0

echo "== In whatever order the packs are imported, the result is the same, byte by byte"
for order in "graphs matrices kernels algebra" "kernels graphs algebra matrices" "algebra matrices graphs kernels" \
    "algebra kernels matrices graphs" "kernels matrices algebra graphs" "graphs algebra kernels matrices"; do
    cp ./*.rw "$out"
    {
        echo "pack compose"
        printf 'import %s\n' $order
        grep -v '^pack\|^import\|^//!' pack.rw
    } >"$out/pack.rw"
    "$rewright" check "$out/pack.rw" >/dev/null 2>&1 || fail "with imports in the order $order the pack holds"
    opt "$(tr ' ' - <<<"$order")" "$out/pack.rw"
    cmp "$out/both.ir" "$out/$(tr ' ' - <<<"$order").ir" || fail "imports in the order $order give another result"
done
echo "== Carol has a matrix, a transpose and products of her own: they are not Ada's and Bob's"
input=graphs.ir opt alone graphs.rw
input=graphs.ir opt together pack.rw
body "$out/together.ir" reach
[ "$(cost alone reach)" = "$(cost together reach)" ] || fail "%reach costs the same whoever else is there"
expect "$out/together.ir" reach graphs.transpose 1
expect "$out/together.ir" reach closure 1

echo "== Whoever does not say whose matrix is meant is asked"
# refused WORDS COMMAND..: it fails, and says this.
refused() {
    local words=$1
    shift
    if "$@" 2>"$out/refused"; then fail "$* is refused"; fi
    grep -F -- "$words" "$out/refused" || { cat "$out/refused" >&2; fail "$* says: $words"; }
}
sed 's/matrices[.]//g' input.ir >"$out/plain.ir"
refused '`Matrix` is `matrices.Matrix` or `graphs.Matrix`: say which' \
    "$rewright" opt "$out/plain.ir" --rules pack.rw
cp ./*.rw "$out"
sed 's/matrices[.]Matrix/Matrix/g' pack.rw >"$out/pack.rw"
refused '`Matrix` is 2 types: `graphs.Matrix` and `matrices.Matrix`' "$rewright" check "$out/pack.rw"
echo "story: as claimed"
