#!/usr/bin/env bash
# Five idioms: see README.md. Ends non-zero if what it claims does not happen.
source "$(dirname "$0")/../story.sh"

echo "== The pack holds what its examples say"
check pack.rw

"$rewright" opt input.ir --rules pack.rw --stats -o "$out/after.ir" 2>"$out/stats"
echo "== After"
for f in keyword character checked arithmetic typed; do body "$out/after.ir" "$f"; done
grep -E '^%(keyword|character|checked|arithmetic|typed): optimised' "$out/stats" | cut -d, -f1,2

expect "$out/after.ir" keyword ' = dot ' 1
expect "$out/after.ir" keyword 'norm' 0
expect "$out/after.ir" character 'mul{' 1
expect "$out/after.ir" character 'transpose{' 1
expect "$out/after.ir" character 'gemm' 0
expect "$out/after.ir" checked ' = dot ' 1
expect "$out/after.ir" checked 'inner' 0
expect "$out/after.ir" arithmetic 'ishl\|imul' 1
expect "$out/after.ir" arithmetic 'scaled' 0
expect "$out/after.ir" typed 'largest.1{' 1
expect "$out/after.ir" typed 'spectrum\|transpose' 0
expect "$out/after.ir" norm ' = dot ' 1
echo "story: as claimed"
