#!/usr/bin/env python3
"""What `rewright validate` says of LLVM's own passes: C files, each before and after one pass.

    scripts/passes.py [--rewright PROGRAM] [--json FILE] [--keep FOLDER] [--jobs N] FILE.c... [-- ARGUMENT...]

Each file goes through clang without passes and through mem2reg; that is the first version, and before `sroa` what clang
gives. The second is what one pipeline makes of it. Functions that only one of them has (which were inlined, or are left
out) are counted apart, as gone. Arguments behind `--` go to `rewright validate` (`--method refined`). LLVM is taken to
be right, so a refuted pair is WRONG, unless a reader looks at it and finds a bug of LLVM. CLANG and OPT name the
programs (clang-19, opt-19), CFLAGS further options.

The exit code is 1 if any pair is refuted.
"""
import argparse
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

PIPELINES = [
    "sroa", "early-cse", "instcombine", "simplifycfg", "gvn", "reassociate", "loop-mssa(licm)", "loop(loop-rotate)",
    "loop(indvars)", "loop-unroll", "simple-loop-unswitch", "sccp", "dse", "jump-threading", "loop(loop-deletion)",
    "default<O1>", "default<O2>",
]
# Those whose first version has not been through mem2reg.
OF_RAW = {"sroa"}
# The reason of a function that the second version does not have.
GONE = "only the first file defines it"
PASSES = {"simple-loop-unswitch": "loop-mssa(simple-loop-unswitch<nontrivial>)"}


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def prepared(source, folder, number):
    """The first versions of a C file: without and with mem2reg."""
    raw, base = (os.path.join(folder, f"{number}.{kind}.ll") for kind in ("raw", "base"))
    flags = os.environ.get("CFLAGS", "").split()
    run(os.environ.get("CLANG", "clang-19"), "-O1", "-w", *flags, "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm",
        source, "-o", raw)
    run(os.environ.get("OPT", "opt-19"), "-S", "-passes=function(mem2reg)", raw, "-o", base)
    return raw, base


def dashed(name):
    return re.sub(r"[^A-Za-z0-9]", "-", name)


def compared(rewright, arguments, source, versions, pipeline, folder, keep):
    kept = keep and os.path.join(keep, f"{dashed(source)}.{dashed(pipeline)}.json")
    if kept and os.path.exists(kept):
        with open(kept) as file:
            return json.load(file)
    base = versions[0 if pipeline in OF_RAW else 1]
    after = f"{base}.{dashed(pipeline)}.ll"
    run(os.environ.get("OPT", "opt-19"), "-S", f"-passes={PASSES.get(pipeline, pipeline)}", base, "-o", after)
    done = subprocess.run(["/usr/bin/env", "time", "-f", "%U %S", rewright, "validate", base, after, "--format", "json",
                           *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{base}, {pipeline}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    report["seconds"] = sum(map(float, done.stderr.split()[-2:]))
    if kept:
        with open(kept, "w") as file:
            json.dump(report, file)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rewright", default="target/release/rewright")
    parser.add_argument("--json", help="where to write all verdicts")
    parser.add_argument("--keep", help="a folder for the reports")
    parser.add_argument("--jobs", type=int, default=1)
    own, arguments = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, arguments = own[:at], own[at + 1:]
    options = parser.parse_args(own)
    table, verdicts, seconds = {p: {} for p in PIPELINES}, [], []
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        bases = [prepared(source, folder, number) for number, source in enumerate(options.files)]
        todo = [(source, base, p) for source, base in zip(options.files, bases) for p in PIPELINES]
        reports = pool.map(lambda t: compared(options.rewright, arguments, *t, folder, options.keep), todo)
        for (source, _, pipeline), report in zip(todo, reports):
            print(f"{source}, {pipeline}: {report['counts']}", file=sys.stderr)
            if report["counts"]["pairs"]:
                seconds.append(report["seconds"] / report["counts"]["pairs"])
            gone = sum(f.get("reasons") == [GONE] for f in report["functions"])
            counts = {**report["counts"], "gone": gone}
            counts["pairs"] -= gone
            counts["unknown"] -= gone
            for kind, n in counts.items():
                table[pipeline][kind] = table[pipeline].get(kind, 0) + n
            verdicts += [{"file": source, "pass": pipeline, **f} for f in report["functions"]]
    kinds = ["pairs", "proved", "refuted", "tested", "unknown", "gone"]
    print("| pass |", " | ".join(["changed"] + kinds[1:]), "|")
    print("|", " | ".join(["---"] * 7), "|")
    total = dict.fromkeys(kinds, 0)
    for pipeline, counts in table.items():
        print("|", " | ".join([pipeline] + [str(counts.get(kind, 0)) for kind in kinds]), "|")
        for kind in kinds:
            total[kind] += counts.get(kind, 0)
    print("|", " | ".join(["all"] + [str(total[kind]) for kind in kinds]), "|")
    print(f"\nFiles: {', '.join(sorted(options.files))}. The CPU time for a changed function of a file and pass: {statistics.median(seconds):.2f} s "
          "in the median file and pass.")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(verdicts, file, indent=1)
    for v in verdicts:
        if v["verdict"] == "refuted":
            print(f"WRONG {v['file']}, {v['pass']}: {v['function']} on {v['shown']}: before, {v['before']}; after, {v['after']}")
    sys.exit(bool(total["refuted"]))


if __name__ == "__main__":
    main()
