#!/usr/bin/env bash
# Installs what a bare Debian or Ubuntu machine with Rust and a C compiler lacks: cmake and libclang (HiGHS is
# built from source), graphviz (pictures), z3 (`verify`), clang and LLVM 19 (programs in C), OpenBLAS (stories of
# linear algebra). Does nothing where all of it is there.
set -euo pipefail

packages=()
command -v cmake >/dev/null || packages+=(cmake)
command -v c++ >/dev/null || packages+=(g++)
command -v dot >/dev/null || packages+=(graphviz)
command -v z3 >/dev/null || packages+=(z3)
command -v clang-19 >/dev/null || packages+=(clang-19)
command -v opt-19 >/dev/null || packages+=(llvm-19)
ldconfig -p 2>/dev/null | grep -q libopenblas.so || packages+=(libopenblas-dev)
# Not libclang-cpp, which is another library and is on many machines without this one.
if ! ldconfig -p 2>/dev/null | grep -Eq 'libclang(-[0-9.]+)?\.so' &&
    ! compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null &&
    ! compgen -G '/usr/lib/llvm-*/lib/libclang-[0-9]*.so*' >/dev/null; then
    packages+=(libclang-dev)
fi
if [ "${#packages[@]}" -gt 0 ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "setup: installing ${packages[*]}" >&2
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "${packages[@]}" >/dev/null
fi
if ! cargo nextest --version >/dev/null 2>&1; then
    echo "setup: building cargo-nextest" >&2
    cargo install --locked --quiet cargo-nextest
fi
