#!/usr/bin/env bash
# Writes tests/llvm/VALIDATION.md: do the functions of C projects that rules change still do the same? It reads what
#
#   VARIANTS=ir scripts/projects.sh PROJECT...
#
# has left in $WORK (target/projects), and takes $RULES and $REWRIGHT as that does. Not part of CI: it wants those builds,
# clang and z3, and a few minutes of CPU time for a project.
#
#   scripts/validation.sh [PROJECT...]     (all that have been built)
#
# The table is of these and of all that have been validated before: their reports stay beside what was built.
#
# Figures on LLVM's passes, on mutants, on Alive2's tests and on Cranelift's mid-end are taken from
# $WORK/{passes,files,mutants,small,alive,midend}.md, where these are:
#
#   scripts/passes.py tests/llvm/pairs/passes.c >target/projects/passes.md
#   CFLAGS=.. scripts/passes.py bzip2/unzcrash.c lua/src/lmem.c .. >target/projects/files.md
#   scripts/mutants.py tests/llvm/pairs/passes.c >target/projects/mutants.md
#   scripts/small_widths.py >small.ll && scripts/mutants.py --count 300 small.ll >target/projects/small.md
#   scripts/alive.py ALIVE2/tests/alive-tv >target/projects/alive.md
#   scripts/midend.py target/release/rewright CRANELIFT/filetests/filetests >target/projects/midend.md
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

# The output of `scripts/alive.py` and `scripts/passes.py`, where it was kept.
python3 - "$work/results" "$work" >"$table.part" <<'END_OF_TABLE'
import glob, json, os, re, sys
KINDS = ["pairs", "proved", "refuted", "tested", "unknown"]
WIDTH = 120
def row(*cells):
    print("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
def shortened(reason):
    """Without the names of a program's functions and variables, cut at the end of a word."""
    reason = re.sub(r'@(?!llvm\.)(?:"[^"]*"|[-\w$.]+)', "@..", reason)
    return reason if len(reason) <= WIDTH else reason[:WIDTH].rsplit(" ", 1)[0] + " .."
print("""# What `rewright validate` says

*Proved*: an SMT solver says that the second version refines the first one, or both are one text. *Refuted*: an input on
which it does not, replayed on both texts. *Tested*: runs agreed, which claims nothing. *Unknown*: none of these.

## What rules change in C projects

Made by `scripts/validation.sh`: functions that `std`, `std.libm` and `std.libc` change in builds of Debian 12's sources,
before and after.
""")
row("project", "changed", *KINDS[1:])
row(*["---"] * 6)
total, reasons, refuted = [0] * 5, {}, []
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*", "validation.json"))):
    report, project = json.load(open(path)), os.path.basename(os.path.dirname(path))
    cells = [report["counts"][kind] for kind in KINDS]
    for function in report["functions"]:
        if function["verdict"] == "refuted":
            refuted.append(f"{project}: {function['function']} on {function['shown']}: before, {function['before']}; after, {function['after']}")
        if function["verdict"] not in ("proved", "refuted"):
            reason = shortened((function["reasons"] or ["no method has been asked"])[0])
            reasons[reason] = reasons.get(reason, 0) + 1
    row(project, *cells)
    total = [a + b for a, b in zip(total, cells)]
row("all", *total)
print("\n## Why no more is known of them\n")
row("functions", "first reason")
row(*["---"] * 2)
for reason, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:40]:
    row(n, reason)
for title, name in [("LLVM's passes, on functions of our own", "passes.md"), ("LLVM's passes, on files of these projects", "files.md"),
                    ("Mutants of what LLVM's passes make", "mutants.md"),
                    ("Mutants of small widths, all of whose inputs are tried", "small.md"), ("Alive2's tests", "alive.md"), ("Cranelift's mid-end", "midend.md")]:
    path = os.path.join(sys.argv[2], name)
    if os.path.exists(path):
        print(f"\n## {title}\n\n{open(path).read().strip()}")
print(*refuted, sep="\n", file=sys.stderr)
sys.exit(bool(refuted))
END_OF_TABLE
mv "$table.part" "$table"
