#!/usr/bin/env python3
"""What `rewright validate` decides of loops by the method `nests`, which no other one decides.

    scripts/nests.py [--rewright PROGRAM] [--before] [--keep FOLDER] [FILE.c...]

Each C file (tests/llvm/nests/kernels.c if none is named) is compiled by clang at -O1 without vectors: that is the first
version. Second versions are what passes of LLVM make of it, and what it is with -DREWRITTEN. Pairs that are one text are
not counted. With `--before`, pairs are also compared by all methods that were there before, which takes minutes. With
`restrict` left out (-DR=), arguments may overlap. With `--keep`, the pairs are left in a folder, with a list of them that
`scripts/mlir_certificates.py` reads. CLANG and OPT name the programs (clang-19, opt-19). The exit code is 1
if a pair is refuted.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-O1", "-fno-vectorize", "-mllvm", "-disable-loop-idiom-all", "-ffp-contract=off", "-w", "-fno-discard-value-names", "-S", "-emit-llvm"]
PASSES = ["loop-interchange", "loop-unroll<O3;runtime>", "loop-unroll-and-jam", "loop-distribute", "loop-fusion",
          "loop-mssa(licm)", "loop-mssa(simple-loop-unswitch<nontrivial>)", "loop(loop-reduce)", "loop(loop-flatten)",
          "loop(loop-idiom)"]
OLD = "replayed,interpreted,compiled,refined"


def verdicts(rewright, before, after, methods):
    command = [rewright, "validate", before, after, "--method", methods, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return {verdict["function"]: verdict for verdict in json.loads(done.stdout)["functions"]}


def word(verdict):
    return "proved if" if verdict.get("precondition") else verdict["verdict"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=["tests/llvm/nests/kernels.c"])
    parser.add_argument("--rewright", default="target/release/rewright")
    parser.add_argument("--before", action="store_true")
    parser.add_argument("--keep")
    args = parser.parse_args()
    clang, opt = os.environ.get("CLANG", "clang-19"), os.environ.get("OPT", "opt-19")
    totals, refuted, kept = {}, False, ["name,source,target"]
    for source in args.files:
        for alias in ([], ["-DR="]):
            with tempfile.TemporaryDirectory() as folder:
                base, after = os.path.join(folder, "base.ll"), os.path.join(folder, "after.ll")
                subprocess.run([clang, *FLAGS, *alias, source, "-o", base], check=True)
                for change in ["by hand", *PASSES]:
                    if change == "by hand":
                        subprocess.run([clang, *FLAGS, *alias, "-DREWRITTEN", source, "-o", after], check=True)
                    else:
                        subprocess.run([opt, "-S", f"-passes={change}", base, "-o", after], check=True)
                    if args.keep:
                        name = f"{len(kept)}{change.split('<')[0].replace('(', '-').replace(')', '').replace(' ', '-')}"
                        os.makedirs(args.keep, exist_ok=True)
                        for path, end in [(base, "before"), (after, "after")]:
                            shutil.copy(path, os.path.join(args.keep, f"{name}.{end}.ll"))
                        kept.append(f"{name},{name}.before.ll,{name}.after.ll")
                    row = {"pairs": 0, "proved": 0, "proved if": 0, "before": 0}
                    found = verdicts(args.rewright, base, after, "nests")
                    old = verdicts(args.rewright, base, after, OLD) if args.before else {}
                    for name, verdict in found.items():
                        if verdict.get("tier") == "same":
                            continue
                        row["pairs"] += 1
                        kind = word(verdict)
                        row[kind] = row.get(kind, 0) + 1
                        refuted |= kind == "refuted"
                        row["before"] += old.get(name, {}).get("verdict") == "proved"
                        if kind not in ("proved", "proved if"):
                            reason = (verdict["reasons"] or [""])[0]
                            print(f"{change} {' '.join(alias)}: {name}: {reason[:150]}", file=sys.stderr)
                    for key, count in row.items():
                        totals[key] = totals.get(key, 0) + count
                    print(f"{change + (' (may overlap)' if alias else ''):56} " +
                          ", ".join(f"{key}: {count}" for key, count in row.items() if key != "before" or args.before))
    if args.keep:
        with open(os.path.join(args.keep, "truth.csv"), "w") as out:
            out.write("\n".join(kept) + "\n")
    print(f"{'all':56} " + ", ".join(f"{key}: {count}" for key, count in totals.items() if key != "before" or args.before))
    sys.exit(1 if refuted else 0)


if __name__ == "__main__":
    main()
