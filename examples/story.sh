# The head of every story's run.sh: `source "$(dirname "$0")/../story.sh"`.
#
# Gives: `$rewright`, which is $REWRIGHT, or built; `$out`, a folder that goes when the story ends; `fail`, which ends it; `library` for its
# C functions; `check` for packs; `body`, `count` and `expect` to look into functions. Stands in the story's folder
# afterwards. `allow` is what the story's packs may call: `library` adds to it, and it goes to whatever calls.
set -euo pipefail
cd "$(dirname "$0")"
source ../../scripts/part.sh
rewright=${REWRIGHT:-}
if [ -z "$rewright" ]; then
    cargo build --quiet --manifest-path ../../Cargo.toml --bin rewright
    rewright=$(debug_program ../../Cargo.toml)
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

allow=()
fail() { echo "story: $*" >&2; exit 1; }

# library SOURCE [FLAG..]: packs, input and the shared library `libNAME.so` of the source `NAME.c` into `$out`, and
# there: paths of libraries are relative to the pack.
library() {
    cp ./*.rw ./*.ir "$out"
    cc -O2 -shared -fPIC -o "$out/lib${1%.c}.so" "$@"
    cd "$out"
    allow+=(--allow-link "./lib${1%.c}.so")
}

# check PACK..: every example holds. An item that only the input of a story uses is "never used" to its pack: warnings
# are shown only with mistakes.
check() { "$rewright" check ${allow[@]+"${allow[@]}"} "$@" 2>"$out/diagnostics" || { cat "$out/diagnostics" >&2; fail "the packs hold"; }; }

# verified PACK: no rule of it is wrong or undecided; what each was tested with.
verified() { "$rewright" verify --strict ${allow[@]+"${allow[@]}"} "$@" 2>&1 || fail "the rules hold"; }

# body FILE NAME: one function of a file of CLIF or of our own text.
body() { sed -nE "/^func(tion)? %$2[ ({]/,/^}/p" "$1"; }

# count FILE NAME PATTERN: lines of a function that match.
count() { body "$1" "$2" | grep -c -- "$3" || true; }

# expect FILE NAME PATTERN N: N lines of a function match, or the story ends.
expect() {
    [ -n "$(body "$1" "$2")" ] || fail "$1 has no function %$2"
    local n
    n=$(count "$1" "$2" "$3")
    [ "$n" = "$4" ] || { body "$1" "$2" >&2; fail "%$2 has $n lines with \`$3\`, not $4"; }
}

# compiled PACK [FLAG..]: `main.c` with plain clang and with the pack's rules, and `library.c` with plain clang where
# there is one: `$out/plain` and `$out/ruled`, by the same command. What became of functions is in `$out/stats`.
compiled() {
    local pack=$1 clang=${REWRIGHT_CLANG:-clang-19}
    shift
    [ ! -f library.c ] || "$clang" -O2 -c library.c -o "$out/library.o"
    "$clang" -O2 -c main.c -o "$out/plain.o"
    # shellcheck disable=SC2016
    REWRIGHT_CLANG=$clang "$rewright" wrap --rules "$pack" --strict --no-cache --stats -- \
        sh -c '$CC -O2 -c main.c -o "$1"' sh "$out/ruled.o" 2>"$out/stats" || { cat "$out/stats" >&2; fail "it compiles"; }
    for kind in plain ruled; do
        "$clang" "$out/$kind.o" "$(ls "$out/library.o" 2>/dev/null || echo -O2)" "$@" -o "$out/$kind"
    done
}

# gain [ARG..]: CPU time of both programs, one after the other, often enough that other load meets both.
# A measurement: no story depends on it.
gain() {
    local TIMEFORMAT=%U
    for _ in 1 2 3 4 5 6 7; do
        plain=$({ time "$out/plain" "$@" >/dev/null 2>&1; } 2>&1)
        ruled=$({ time "$out/ruled" "$@" >/dev/null 2>&1; } 2>&1)
        awk -v a="$plain" -v b="$ruled" 'BEGIN { if (a > 0) printf "%.3f\n", b / a }'
    done | sort -n | awk '{ at[NR] = $1 }
        END { printf "time, with rules by without: %s (%s to %s in %d pairs)\n", at[int((NR + 1) / 2)], at[1], at[NR], NR }'
}

# calls KIND PATTERN: how many calls of such functions there are in a program's object.
calls() { objdump -dr "$out/$1.o" | grep -cE "R_X86_64_(PLT32|GOTPCRELX?).*\b($2)\b" || true; }
