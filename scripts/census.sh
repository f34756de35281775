#!/usr/bin/env bash
# Writes tests/llvm/CENSUS.md: how much of C projects is understood and changed, and what their builds and tests say.
# It reads what
#
#   VARIANTS="plain ir identity" scripts/projects.sh $(scripts/projects.sh --list all)
#
# has left in $WORK (target/projects), whose projects are those with results there, and runs LLVM's verifier on what rules
# have changed.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${WORK:-target/projects}
rewright=${REWRIGHT:-target/release/rewright}
table=tests/llvm/CENSUS.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for kept in "$work"/results/*/ir; do
    results=${kept%/ir}
    project=$(basename "$results")
    "$rewright" corpus "$kept" --format json >"$scratch/$project.json" 2>/dev/null
    find "$kept/" -name '*.changed' | sort | while read -r changed; do
        opt-19 -passes=verify -disable-output "$changed" 2>>"$scratch/$project.refused" && echo "$changed"
    done >"$scratch/$project.verified"
done

python3 - "$work/results" "$scratch" >"$table" <<'END'
import glob, json, os, sys
results, scratch = sys.argv[1:]
def line(*path):
    try:
        with open(os.path.join(*path)) as file:
            return file.readline().strip()
    except FileNotFoundError:
        return ""
def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")
print("""# LLVM IR of C projects

Made by `VARIANTS="plain ir identity" scripts/projects.sh $(scripts/projects.sh --list all)`, then `scripts/census.sh`:
Debian 12's sources of each project (without Debian's patches) through `rewright wrap` with `std`, `std.libm` and
`std.libc`, clang 19. A function is *understood* if it is taken in; it is *changed* if rules made it cheaper. *Verified*
counts the changed files that LLVM's `opt -passes=verify` reads and accepts. *Tests* are the project's own, with plain
clang and with rules: passed of all and a digest of what is to be the same; sqlite's `veryquick` counts errors, two with
plain clang as well (`oserror-1.4.*` want a user that is not root). *Identity* counts the objects that are, without
rules, byte for byte those of plain clang; `n+m` says that `m` more are so but for the numbers in names of private labels
(`.Lstr.6`, where `printf` became `puts`), which LLVM counts up in one run of the compiler and starts again in the next.
""")
row("project", "files", "functions", "understood", "%", "changed", "verified", "fell back", "tests, plain", "tests, rules", "identity")
row(*["---"] * 11)
total, reasons = [0] * 5, {}
for path in sorted(glob.glob(os.path.join(scratch, "*.json"))):
    name = os.path.basename(path)[:-5]
    census, built = json.load(open(path)), json.loads(line(results, name, "ir.json") or "{}")
    changed_files = len(glob.glob(os.path.join(results, name, "ir", "*.changed")))
    verified = sum(1 for _ in open(path[:-5] + ".verified"))
    seen, understood = census["functions"], census["understood"]
    for reason, n in census["reasons"].items():
        reasons[reason] = reasons.get(reason, 0) + n
    for i, n in enumerate([census["files"], seen, understood, built.get("optimised", 0), verified]):
        total[i] += n
    row(name, census["files"], seen, understood, f"{100 * understood / max(seen, 1):.1f}", built.get("optimised", "-"),
        f"{verified}/{changed_files}", built.get("fell_back", "-"), line(results, name, "plain.tests") or "-",
        line(results, name, "ir.tests") or "-", line(results, name, "identity.count") or "-")
row("all", *total[:3], f"{100 * total[2] / max(total[1], 1):.1f}", total[3], total[4], "", "", "", "")
print("\n## What is not understood\n")
row("functions", "reason")
row("---", "---")
for reason, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
    row(n, reason)
END
cat "$scratch"/*.refused >&2 2>/dev/null || true
