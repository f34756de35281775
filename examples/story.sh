# The head of every story's run.sh: `source "$(dirname "$0")/../story.sh"`.
#
# Gives: `$rewright`, built; `$out`, a folder that goes when the story ends; `fail`, which ends it; `library` for its
# C functions; `check` for packs; `body`, `count` and `expect` to look into functions. Stands in the story's folder
# afterwards.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --quiet --manifest-path ../../Cargo.toml --bin rewright
rewright="$(cargo metadata --quiet --manifest-path ../../Cargo.toml --format-version 1 --no-deps |
    sed -E 's/.*"target_directory":"([^"]*)".*/\1/')/debug/rewright"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() { echo "story: $*" >&2; exit 1; }

# library SOURCE [FLAG..]: packs, input and the shared library `libNAME.so` of the source `NAME.c` into `$out`, and
# there: paths of libraries are relative to the pack.
library() {
    cp ./*.rw input.ir "$out"
    cc -O2 -shared -fPIC -o "$out/lib${1%.c}.so" "$@"
    cd "$out"
}

# check PACK..: every example holds. What only the input of a story uses is "never used" to its pack: warnings are
# shown only with mistakes.
check() { "$rewright" check "$@" 2>"$out/diagnostics" || { cat "$out/diagnostics" >&2; fail "the packs hold"; }; }

# body FILE NAME: one function of a file of CLIF or of our own text.
body() { sed -nE "/^func(tion)? %$2[ ({]/,/^}/p" "$1"; }

# count FILE NAME PATTERN: lines of a function that match.
count() { body "$1" "$2" | grep -c -- "$3" || true; }

# expect FILE NAME PATTERN N: so many lines of a function match, or the story ends.
expect() {
    [ -n "$(body "$1" "$2")" ] || fail "$1 has no function %$2"
    local n
    n=$(count "$1" "$2" "$3")
    [ "$n" = "$4" ] || { body "$1" "$2" >&2; fail "%$2 has $n lines with \`$3\`, not $4"; }
}
