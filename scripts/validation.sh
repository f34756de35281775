#!/usr/bin/env bash
# Writes tests/llvm/VALIDATION.md: do the functions of C projects that rules change still do the same? It reads what
#
#   VARIANTS=ir scripts/projects.sh PROJECT...
#
# has left in $WORK (target/projects), and takes $RULES and $REWRIGHT as that does. Not part of CI: it wants those builds,
# clang and z3, and a minute or two of CPU time for each hundred functions.
#
#   scripts/validation.sh [PROJECT...]     (all that have been built)
#
# The table is of these and of all that have been validated before: their reports stay beside what was built.
#
# The exit code is 1 where a function is refuted; which one, and on what, is said.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${WORK:-target/projects}
rewright=${REWRIGHT:-target/release/rewright}
table=tests/llvm/VALIDATION.md

packs=()
for pack in ${RULES:-std std.libm std.libc}; do packs+=(--rules "$pack"); done
[ $# -gt 0 ] || { for kept in "$work"/results/*/ir; do set -- "$@" "$(basename "${kept%/ir}")"; done; }
for project in "$@"; do
    # A refuted function is in the report; what has no report has failed.
    report=$work/results/$project/validation.json
    "$rewright" validate "$work/results/$project/ir" "${packs[@]}" --format json >"$report.part" || [ $? = 1 ]
    mv "$report.part" "$report"
done

python3 - "$work/results" >"$table" <<'END_OF_TABLE'
import glob, json, os, sys
METHODS = ["interpreted", "compiled", "refined"]
def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")
print("""# What rules change in C projects, validated

Made by `scripts/validation.sh`: functions that `std`, `std.libm` and `std.libc` change in builds of Debian 12's sources,
before and after, by `rewright validate`. *Interpreted* and *compiled*: functions of which runs were compared, and how many
runs; *proved*: functions without loops of which an SMT solver says that they refine what they were. *Any*
counts those that are compared in at least one way.
""")
row("project", "changed", "any", "interpreted", "runs", "compiled", "runs", "proved", "refuted")
row(*["---"] * 9)
total, reasons, refuted = [0] * 8, {method: {} for method in METHODS}, []
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*", "validation.json"))):
    report, project = json.load(open(path)), os.path.basename(os.path.dirname(path))
    by = [report["methods"][method] for method in METHODS]
    cells = [report["changed"], report["compared"]]
    for method, tally in zip(METHODS, by):
        cells += [tally["compared"], tally["runs"]] if method != "refined" else [tally["compared"]]
        for reason, n in tally["not_compared"].items():
            # Which function is called does not matter here.
            reason = reason.split(" @")[0]
            reasons[method][reason] = reasons[method].get(reason, 0) + n
    cells.append(len(report["refuted"]))
    refuted += [(project, r) for r in report["refuted"]]
    row(project, *cells)
    total = [a + b for a, b in zip(total, cells)]
row("all", *total)
print("\n## Functions that are not compared\n")
row("method", "functions", "mostly because")
row(*["---"] * 3)
for method in METHODS:
    for reason, n in sorted(reasons[method].items(), key=lambda item: (-item[1], item[0])):
        row(method, n, reason)
for project, r in refuted:
    print(f"{project}: {r['function']} on ({', '.join(r['arguments'])}): {r['difference']} ({r['method']})", file=sys.stderr)
sys.exit(bool(refuted))
END_OF_TABLE
