# `source scripts/part.sh`: `part NAME COMMAND..` runs one part of the tests, and says how many seconds it took.
part() {
    local name=$1 started=$SECONDS
    shift
    "$@"
    echo "part: $name, $((SECONDS - started)) s" >&2
}
