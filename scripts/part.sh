# `source scripts/part.sh`: `part NAME COMMAND..` runs one part of the tests, and says how many seconds it took;
# `debug_program MANIFEST` prints where the debug build of `rewright` is.
part() {
    local name=$1 started=$SECONDS
    shift
    "$@"
    echo "part: $name, $((SECONDS - started)) s" >&2
}

debug_program() {
    cargo metadata --quiet --manifest-path "$1" --format-version 1 --no-deps |
        sed -E 's|.*"target_directory":"([^"]*)".*|\1/debug/rewright|'
}
