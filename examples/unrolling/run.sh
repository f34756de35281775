#!/usr/bin/env bash
# Two unrolled versions of a filter against the filter: one forgets the last result of an odd number, the other one
# holds for every size that a circuit can have.
source "$(dirname "$0")/../story.sh"

# said CODE ARG..: what `validate` says, and how it must end.
said() {
    local code=0 wanted=$1
    shift
    "$rewright" validate "$@" >"$out/said" || code=$?
    [ "$code" = "$wanted" ] || { cat "$out/said" >&2; fail "\`validate $*\` ends with $code, not $wanted"; }
}
says() { grep -qF -- "$1" "$out/said" || { cat "$out/said" >&2; fail "it does not say: $1"; }; }

said 1 filter.mlir pairs.mlir
says 'filter: refuted: on %n = 5'
says '%y[4] is -0.5 (as it was)'
says 'seen at %n = 1, 3, 5, 7 of 0 to 8'
says 'proved to do the same if %n % 2 == 0'
said 0 filter.mlir pairs.mlir --assume 'n % 2 == 0' --require proved
says 'filter: proved (the same value in each cell)'

said 0 filter.mlir repaired.mlir
says 'filter: proved if %n >= 0'

said 0 filter.mlir repaired.mlir --assume 'n >= 0' --require proved
says 'filter: proved (the same value in each cell)'

# The same two, made by a command: what it prints is the second version.
said 1 filter.mlir --after 'cat pairs.mlir'
said 0 filter.mlir --after 'cat repaired.mlir'
echo "unrolling: a result that was forgotten is found, and the repair is proved"
