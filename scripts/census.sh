#!/usr/bin/env bash
# Writes tests/llvm/CENSUS.md: how much of C projects is understood and changed, and what their builds and tests say.
# Not part of CI: it wants the network, and an hour.
#
#   scripts/census.sh [PROJECT...]     builds these (all) as `scripts/projects.sh` does, whose variables it takes, and
#                                      writes the table of all that this program has built
#   scripts/census.sh --table          only writes the table
#
# The exit code is 1 where a test or an object differs from plain clang's, LLVM's verifier refuses what rules have
# changed, or a project is not in the table.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${WORK:-target/projects}
rewright=${REWRIGHT:-target/release/rewright}
table=tests/llvm/CENSUS.md
found=0 missing=""
if [ "${1:-}" != --table ]; then
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(scripts/projects.sh --list all)
    VARIANTS="plain ir identity" scripts/projects.sh "$@" || found=1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

program=$(cksum <"$rewright")
for project in $(scripts/projects.sh --list all); do
    results=$work/results/$project
    [ "$(cat "$results/program" 2>/dev/null)" = "$program" ] && [ -d "$results/ir" ] ||
        { echo "census: not in the table, since not built by this program: $project" >&2 && missing+=" $project" && found=1 && continue; }
    "$rewright" corpus "$results/ir" --format json >"$scratch/$project.json" 2>/dev/null
    find "$results/ir/" -name '*.changed' | sort | while read -r changed; do
        if opt-19 -passes=verify -disable-output "$changed" 2>>"$scratch/refused"; then echo "$changed"; fi
    done >"$scratch/$project.verified"
    [ ! -s "$results/identity.different" ] ||
        { sed "s|^|census: another object without rules: $project: |" "$results/identity.different" >&2 && found=1; }
done
[ ! -s "$scratch/refused" ] || { cat "$scratch/refused" >&2 && found=1; }

# shellcheck disable=SC2086
python3 - "$work/results" "$scratch" $missing >"$table" <<'END'
import glob, json, os, sys
results, scratch, *missing = sys.argv[1:]
def line(*path):
    try:
        with open(os.path.join(*path)) as file:
            return file.readline().strip()
    except FileNotFoundError:
        return ""
def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")
print("""# LLVM IR of C projects

Made by `scripts/census.sh`: Debian 12's sources of each project (without Debian's patches) through `rewright wrap`
with `std`, `std.libm` and `std.libc`, clang 19. A function is *understood* if it is taken in; it is *changed* if rules
made it cheaper. *Verified* counts the changed files that LLVM's `opt -passes=verify` reads and accepts. *Tests* are the
project's own, with plain clang and with rules: passed of all and a digest of what is to be the same; sqlite's
`veryquick` counts errors, two with plain clang as well (`oserror-1.4.*` want a user that is not root). *Identity*
counts the objects that are, without rules, byte for byte those of plain clang; `n+m` says that `m` more, named below,
are so except for the numbers in names of private labels.
""")
row("project", "files", "functions", "understood", "%", "changed", "verified", "fell back", "tests, plain", "tests, rules", "identity")
row(*["---"] * 11)
total, reasons, identical = [0] * 5, {}, [0] * 3
names = sorted(os.path.basename(path)[:-5] for path in glob.glob(os.path.join(scratch, "*.json")))
for name in names:
    path = os.path.join(scratch, name + ".json")
    census, built = json.load(open(path)), json.loads(line(results, name, "ir.json") or "{}")
    changed_files = len(glob.glob(os.path.join(results, name, "ir", "*.changed")))
    verified = sum(1 for _ in open(os.path.join(scratch, name + ".verified")))
    seen, understood = census["functions"], census["understood"]
    for reason, n in census["reasons"].items():
        reasons[reason] = reasons.get(reason, 0) + n
    for i, n in enumerate([census["files"], seen, understood, built.get("optimised", 0), verified]):
        total[i] += n
    count = line(results, name, "identity.count")
    same, every = count.split("/")
    same, _, but = same.partition("+")
    identical = [sum(pair) for pair in zip(identical, [int(same), int(but or 0), int(every)])]
    row(name, census["files"], seen, understood, f"{100 * understood / max(seen, 1):.1f}", built.get("optimised", "-"),
        f"{verified}/{changed_files}", built.get("fell_back", "-"), line(results, name, "plain.tests") or "-",
        line(results, name, "ir.tests") or "-", count)
row("all", *total[:3], f"{100 * total[2] / max(total[1], 1):.1f}", total[3], total[4], "", "", "", "{}+{}/{}".format(*identical))
if missing:
    print("\nNot built by the program that built these, and so not here: " + ", ".join(missing) + ".")
print("\n## What is not understood\n")
row("functions", "reason")
row("---", "---")
for reason, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
    row(n, reason)
numbered = {}
for name in names:
    with open(os.path.join(results, name, "identity.numbered")) as objects:
        numbered[name] = objects.read().split()
if any(numbered.values()):
    print("""
## Objects that differ in numbers

LLVM numbers what it adds to a file, say `.Lstr.6` where `printf` became `puts`, after what the file has; it counts on in
one run of the compiler, and starts again in the next, which is where the back end of a wrapped build begins. With their
private labels named by where they are, these objects are plain clang's:
""")
    for name, objects in numbered.items():
        if objects:
            print(f"* {name}: " + ", ".join(f"`{object}`" for object in objects))
END
exit $found
