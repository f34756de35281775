#!/usr/bin/env bash
# Makes target/release-files/rewright-VERSION-ARCH-linux.tar.gz and rewright_VERSION_ARCH.deb, and tries both in a clean
# folder with an empty environment. `scripts/release.sh dev` packs the debug build (or $REWRIGHT, where it is set), which
# reads the packs from the source tree: it serves to test this script.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-release}
case $profile in
release) built=target/release/rewright level=6 ;;
dev) built=${REWRIGHT:-target/debug/rewright} level=1 ;;
*) echo "release: no profile \`$profile\`: it is \`release\` or \`dev\`" >&2; exit 2 ;;
esac
for tool in dpkg-deb readelf; do
    command -v "$tool" >/dev/null || { echo "release: \`$tool\` is missing; install dpkg and binutils" >&2; exit 2; }
done
if [ "$profile" = release ]; then
    cargo build --locked --quiet --workspace --bin rewright --release
elif [ -z "${REWRIGHT:-}" ]; then
    cargo build --locked --quiet --workspace --bin rewright
fi

version=$("$built" --version | cut -d ' ' -f 2)
machine=$(uname -m)
name=rewright-$version-$machine-linux
files=target/release-files
rm -rf "$files"
mkdir -p "$files"

# One tree serves both: the archive is unpacked anywhere, the package in /usr.
tree=$files/$name
mkdir -p "$tree"/{bin,share/man/man1,share/bash-completion/completions,share/zsh/vendor-completions} \
    "$tree"/share/{fish/vendor_completions.d,doc/rewright}
install -m 755 "$built" "$tree/bin/rewright"
strip --strip-debug "$tree/bin/rewright"
program=$PWD/$tree/bin/rewright
"$program" man -o "$tree/share/man"
gzip -9n "$tree"/share/man/man1/*.1
"$program" completions bash >"$tree/share/bash-completion/completions/rewright"
"$program" completions zsh >"$tree/share/zsh/vendor-completions/_rewright"
"$program" completions fish >"$tree/share/fish/vendor_completions.d/rewright.fish"
cp README.md CHANGELOG.md SECURITY.md "$tree/share/doc/rewright/"
cp LICENSE "$tree/share/doc/rewright/copyright"

# What the binary contains of others: each crate with its licence, and the texts that its authors want kept.
licences=$tree/share/doc/rewright/third-party
mkdir -p "$licences"
cargo tree --locked --package rewright-cli --edges normal,no-proc-macro --prefix none --format '{p}|{l}' |
    sed 's/ (\*)$//' | sort -u | grep -v ' (/' >"$licences/crates.txt"
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
while read -r crate crate_version _; do
    for source in "$sources"/*/"$crate-${crate_version%%|*}"; do
        find "$source" -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'notice*' \) \
            -exec sh -c 'cp "$1" "$2-$(basename "$1")"' _ {} "$licences/$(sed 's/[v|].*//' <<<"$crate")" \;
    done
done < <(sed 's/ v/ /' "$licences/crates.txt")

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$files" -czf \
    "$files/$name.tar.gz" "$name"

architecture=$(dpkg --print-architecture)
package=$files/package
mkdir -p "$package/DEBIAN"
cp -r "$tree" "$package/usr"
# The C library of the machine that builds is the oldest that the binary runs with.
libc=$(readelf --version-info "$tree/bin/rewright" | grep -o 'GLIBC_[0-9.]*' | cut -d _ -f 2 | sort -uV | tail -n 1)
cat >"$package/DEBIAN/control" <<CONTROL
Package: rewright
Version: $version
Architecture: $architecture
Maintainer: The Rewright authors <rewright@localhost>
Section: devel
Priority: optional
Depends: libc6 (>= $libc), libgcc-s1
Recommends: clang-19, llvm-19, z3
Suggests: git, graphviz
Installed-Size: $(du -sk "$package/usr" | cut -f 1)
Description: typed rewrite rules for compilers
 States what is equal in a domain, and applies it: equality saturation,
 checked selection, proofs of rules and of pairs of programs.
CONTROL
dpkg-deb --root-owner-group -z$level --build "$package" "$files/rewright_${version}_$architecture.deb" >/dev/null
rm -r "$package" "$tree"

# `try FOLDER`: the installation in FOLDER works with nothing but itself.
try() {
    local needed
    needed=$(readelf --dynamic "$1/bin/rewright" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -Ev '^(lib(c|m|gcc_s|pthread|dl|rt)\.so\.[0-9]|ld-linux-.*)' || true)
    [ -z "$needed" ] || { echo "release: the binary needs more than the C library:" $needed >&2; exit 1; }
    cat >"$1/pack.rw" <<PACK
//! A pack to try the installation with.
pack sums
import std.core

ruleset identities {
  rule added_and_subtracted(x: i32, y: i32): x + y - y => x
}

example "added and subtracted" (x: i32, y: i32) fires identities.added_and_subtracted: x + y - y becomes x
PACK
    cat >"$1/f.clif" <<CLIF
function %f(i32) -> i32 {
block0(v0: i32):
    v1 = iconst.i32 0
    v2 = iadd v0, v1
    return v2
}
CLIF
    (cd "$1" && env -i HOME="$1" "$1/bin/rewright" check pack.rw && env -i HOME="$1" "$1/bin/rewright" opt f.clif) |
        tee "$1/said" | grep -q 'return v0' || { echo "release: $1 does not work:" >&2; cat "$1/said" >&2; exit 1; }
}
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
mkdir "$clean/archive" "$clean/deb"
tar -C "$clean/archive" -xzf "$files/$name.tar.gz"
try "$clean/archive/$name"
dpkg-deb --extract "$files/rewright_${version}_$architecture.deb" "$clean/deb"
try "$clean/deb/usr"
ls -l "$files" >&2
