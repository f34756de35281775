#!/usr/bin/env bash
# Installs what a bare Debian or Ubuntu machine with Rust and a C compiler lacks: cmake and libclang (HiGHS is
# built from source), graphviz (pictures), z3 (`verify`), clang and LLVM 19 (programs in C), OpenBLAS (stories of
# linear algebra); then fetches the sources of all crates, so that what follows needs no network. With `--tests` also
# what the recipes for builds use, and cargo-nextest, which takes minutes to build. Does nothing where all of it is there.
set -euo pipefail

# Debian gives only root the folder where `ldconfig` is.
PATH=$PATH:/usr/sbin:/sbin
libraries=$(ldconfig -p)

packages=()
command -v make >/dev/null || packages+=(make)
command -v cmake >/dev/null || packages+=(cmake)
command -v c++ >/dev/null || packages+=(g++)
command -v dot >/dev/null || packages+=(graphviz)
command -v z3 >/dev/null || packages+=(z3)
command -v clang-19 >/dev/null || packages+=(clang-19)
command -v opt-19 >/dev/null || packages+=(llvm-19)
# Not libopenblas.so.0, with which programs run and are not linked.
grep -q 'libopenblas\.so ' <<<"$libraries" || packages+=(libopenblas-dev)
# Not libclang-cpp, which is another library and is on many machines without this one.
if ! grep -Eq 'libclang(-[0-9.]+)?\.so' <<<"$libraries" &&
    ! compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null &&
    ! compgen -G '/usr/lib/llvm-*/lib/libclang-[0-9]*.so*' >/dev/null; then
    packages+=(libclang-dev)
fi
if [ "${1:-}" = --tests ]; then
    # The recipes in docs/wrapping.md are run, and what a build writes is looked at.
    for tool in autoconf automake ccache distcc sccache strace; do
        command -v "$tool" >/dev/null || packages+=("$tool")
    done
    # Passes of MLIR are run on loop nests.
    command -v mlir-opt-19 >/dev/null || packages+=(mlir-19-tools)
fi
if [ "${#packages[@]}" -gt 0 ]; then
    sudo=""
    if [ "$(id -u)" != 0 ]; then
        sudo=sudo
        command -v sudo >/dev/null || {
            echo "setup: missing: ${packages[*]}; without root or sudo, have them installed with apt, and run this again" >&2
            exit 1
        }
    fi
    echo "setup: installing ${packages[*]}" >&2
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}" >/dev/null
fi
if [ "${1:-}" = --tests ] && ! cargo nextest --version >/dev/null 2>&1; then
    echo "setup: building cargo-nextest" >&2
    cargo install --locked --quiet cargo-nextest
fi
cargo fetch --locked --quiet --manifest-path "$(dirname "$0")/../Cargo.toml"
