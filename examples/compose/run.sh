#!/usr/bin/env bash
# Two authors' packs in a third: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The packs hold what their examples say"
check pack.rw algebra.rw kernels.rw

# opt NAME PACKS..: optimises with these packs, and says what a function costs then.
opt() {
    local name=$1
    shift
    "$rewright" opt input.ir "${@/#/--rules=}" --stats -o "$out/$name.ir" 2>"$out/$name.stats"
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
# The three imports, in all orders.
for order in "matrices kernels algebra" "kernels algebra matrices" "algebra matrices kernels" \
    "algebra kernels matrices" "kernels matrices algebra"; do
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
echo "story: as claimed"
