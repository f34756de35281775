#!/usr/bin/env python3
"""The 30 kernels of PolyBench (tests/polybench): what rules gain, how long it takes, and whether results are the same.

    scripts/polybench.py [KERNEL...] [--forms FORM,..] [--rules RULES,..] [--pairs N] [--json FILE] [--keep FOLDER]

Each kernel is optimised in four forms: LLVM IR as clang gives it with -O0 and mem2reg, with -O1 and with -O2, and CLIF
as wasmtime gives it for WebAssembly (scripts/wasm.sh). RULES are `std`, and `loops` for `std` with `std.loops`.

* `opt`: seconds of processor time of the whole process `rewright opt --fn kernel_..`, preparation included, the least
  of three; it is said where a budget ends in any function of the file.
* `same`: the checksum of all bits of the results is that of plain clang -O0 (x86-64 without fused multiplication).
* `instructions`: executed in the kernel, with rules by without. LLVM IR, of the size MEDIUM, goes through clang -O2
  both times, and valgrind counts; `=` says that the kernel's machine code is the same. CLIF, of the size MINI, is
  counted by `rewright bench --native`: rules alone by Cranelift's mid-end, and both by it.
* `time`: processor time in the kernel, with rules by without, in N interleaved pairs (31): the median ratio, and an
  interval that holds it with 95 %. LLVM IR: by resampling. CLIF, of the size SMALL, both through Cranelift's mid-end:
  by `rewright run --compare`, so wall-clock time, five times N pairs: the middle, least and greatest median.

The exit code is 1 if a result differs, a function fails, a budget ends, opt takes 2 s or more, or a kernel is slower
beyond doubt: the interval lies above 1.02. REWRIGHT, CLANG, OPT, VALGRIND and WASMTIME name the programs; what is not
there is said, and left out.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
KERNELS = TOP / "tests" / "polybench"
REWRIGHT = os.environ.get("REWRIGHT", str(TOP / "target" / "release" / "rewright"))
CLANG, OPT, VALGRIND, WASMTIME = (
    os.environ.get(name, usual)
    for name, usual in [("CLANG", "clang-19"), ("OPT", "opt-19"), ("VALGRIND", "valgrind"), ("WASMTIME", "wasmtime")]
)
CLANG_FORMS = {"O0-mem2reg": ["-O0", "-Xclang", "-disable-O0-optnone"], "O1": ["-O1"], "O2": ["-O2"]}
FORMS = [*CLANG_FORMS, "wasm"]
RULES = {"std": ["--rules", "std"], "loops": ["--rules", "std", "--rules", "std.loops"]}
SECONDS_OF_OPT, SLOWER = 2.0, 1.02
# Nanoseconds that one timed run takes, at least. Wall-clock times are short, so that most runs are not interrupted.
TIMED_LLVM, TIMED_CLIF = 8e6, 2e6
# The median lies between the least and the greatest of five medians with 94 %.
BATCHES = 5
# A made-up context of wasmtime: bytes of its own words, where what stores share begins, linear memory, and its size.
WORDS, STORE, LINEAR, MEMORY = 1 << 14, 1 << 14, 2 << 14, 2 << 20


def run(*command, codes=(0,), **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          check=False, **options)
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    return done


def cpu_seconds(command):
    """Processor time of a process and what it says on stderr; it must succeed."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {process.returncode}: {text.strip()[-500:]}")
    return usage.ru_utime + usage.ru_stime, text


def function_of(kernel):
    return f"kernel_{kernel.replace('-', '_')}"


def seconds_of_opt(source, rules, kernel):
    command = [REWRIGHT, "opt", source, *RULES[rules], "--fn", function_of(kernel), "-o", os.devnull]
    return min(cpu_seconds(command)[0] for _ in range(3))


def optimised(source, rules, target):
    """Optimises a file: seconds, and what became of its functions."""
    command = [REWRIGHT, "opt", source, *RULES[rules], "--stats", "--format", "json", "-o", target]
    seconds, said = cpu_seconds(command)
    functions = json.loads(next(line for line in said.splitlines() if line.startswith("{")))["functions"]
    return {
        "seconds_of_file": seconds,
        "failed": [f"{f['name']}: {f['fate']}" for f in functions if f["fate"].startswith("failed")],
        "left_out": [f"{f['name']}: {f['fate']}" for f in functions if f["fate"].startswith("passed through")],
        "exhausted": [f"saturation of {f['name']}" for f in functions if f.get("exhausted")]
        + [f"selection of {f['name']} ({f['ended']})" for f in functions if f.get("ended")],
        "loops": [dict(loop, function=f["name"]) for f in functions for loop in f.get("loops", [])],
    }


def of_pairs(ratios):
    """The median of ratios, and an interval for it with 95 %, by resampling."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return {"median": statistics.median(ratios), "low": medians[50], "high": medians[1949], "pairs": len(ratios)}


# LLVM IR.


def lowered(source, form, folder):
    """A kernel as LLVM IR of a form."""
    target = folder / f"{source.stem}.{form}.ll"
    run(CLANG, *CLANG_FORMS[form], "-DMEDIUM", "-S", "-emit-llvm", source, "-o", target)
    if form == "O0-mem2reg":
        run(OPT, "-S", "-passes=mem2reg", target, "-o", target)
    return target


def compiled(source, program, kernel):
    """Compiles LLVM IR by clang -O2; the assembly of the kernel's function, without names of constants and comments.

    Loops are aligned, because where code happens to stand changes times by some per cent.
    """
    assembly, function = program.with_suffix(".s"), function_of(kernel)
    run(CLANG, "-O2", "-falign-functions=64", "-falign-loops=64", "-Wno-override-module", "-S", source, "-o", assembly)
    run(CLANG, assembly, "-o", program)
    body = re.search(rf"^{function}:.*?^\s*\.size\s+{function},", assembly.read_text(), re.M | re.S)[0]
    return re.sub(r"\s*#.*$", "", re.sub(r"\.LCPI\w+", ".LCPI", body), flags=re.M)


def nanoseconds(program, repeats):
    done = run(program, repeats)
    return int(done.stderr)


def timed(before, after, pairs):
    """Processor time in the kernel of two programs, in turn; each is the first one in half of the pairs."""
    once = min(nanoseconds(before, 3) for _ in range(3)) / 3
    repeats = max(1, math.ceil(TIMED_LLVM / max(once, 1)))
    ratios = []
    for pair in range(pairs):
        order = [before, after] if pair % 2 == 0 else [after, before]
        spent = {program: nanoseconds(program, repeats) for program in order}
        ratios.append(spent[after] / max(spent[before], 1))
    return of_pairs(ratios)


def counted(program, kernel):
    """Instructions that the kernel's function executes."""
    done = run(VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null",
               f"--toggle-collect={function_of(kernel)}", program)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def measure_llvm(source, form, rules, wanted, pairs, folder):
    before = lowered(source, form, folder)
    after = before.with_suffix(f".{rules}.ll")
    made = optimised(before, rules, after)
    made["seconds"] = seconds_of_opt(before, rules, source.stem)
    programs = [text.with_suffix(".out") for text in (before, after)]
    texts = [compiled(text, program, source.stem) for text, program in zip((before, after), programs)]
    made["same"] = {run(program).stdout.strip() for program in programs} == {wanted["MEDIUM"]}
    made |= {"same_code": texts[0] == texts[1], "instructions": None, "time": None}
    if made["same_code"]:
        return made
    if shutil.which(VALGRIND):
        made["instructions"] = dict(zip(("before", "after"), (counted(program, source.stem) for program in programs)))
    made["time"] = timed(*programs, pairs) if pairs else None
    return made


# CLIF.


def wasm_functions(sources, size, folder):
    """By kernel: its functions as CLIF, as wasmtime's front end makes them."""
    settings = {"CLANG": CLANG, "WASMTIME": WASMTIME, "REWRIGHT": REWRIGHT, "WASM": str(folder), "BENCH": "",
                "CFLAGS": f"-O2 -D{size}"}
    run(TOP / "scripts" / "wasm.sh", *sources, env={**os.environ, **settings})
    return {path.stem: path for path in folder.glob("*/*.clif")}


def context_words(text):
    """What functions load of their context: by offset, type and value; those that are addresses are relative to it."""
    values = {"VMContext+0x8": (STORE, True), "VMMemoryDefinition+0x0": (LINEAR, True),
              "VMMemoryDefinition+0x8": (MEMORY, False)}
    words = {}
    for function in text.split("\nfunction "):
        regions = dict(re.findall(r"^\s*(region\d+) = \d+ \"(.*)\"", function, re.M))
        for ty, region, offset in re.findall(r"= load\.(i32|i64) .*?(region\d+) (?:v0|gv0)\+(\d+)", function):
            name = regions.get(region, "")
            if name.startswith("DefinedGlobal("):
                words[int(offset)] = (ty, MEMORY, False)
            elif name in values:
                words[int(offset)] = (ty, *values[name])
    return words


def harness(text, repeats):
    """A file with a function that makes a context, initialises, calls the kernel some times, and gives the checksum."""
    lines = [f"    ss0 = explicit_slot {LINEAR + MEMORY}, align = 16"]
    lines += ["    fn0 = colocated %call_rest(i64 vmctx, i64) -> i64 tail",
              "    fn1 = colocated %repeat_kernel(i64 vmctx, i64, i32) tail",
              "    fn2 = colocated %call_all(i64 vmctx, i64) -> i64 tail"]
    lines += ["block0:", "    v0 = stack_addr.i64 ss0", f"    v1 = iconst.i64 {STORE}", "    v2 = iadd v0, v1",
              "    v3 = iconst.i64 0", "    store notrap v3, v2+24"]
    value = 4
    for offset, (ty, word, is_address) in sorted(context_words(text).items()):
        lines.append(f"    v{value} = iconst.{ty} {word}")
        if is_address:
            value += 1
            lines.append(f"    v{value} = iadd v0, v{value - 1}")
        lines.append(f"    store notrap v{value}, v0+{offset}")
        value += 1
    first, times, result = (f"v{value + n}" for n in range(3))
    lines += [f"    {first} = call fn0(v0, v0)", f"    {times} = iconst.i32 {repeats}",
              f"    call fn1(v0, v0, {times})", f"    {result} = call fn2(v0, v0)", f"    return {result}"]
    return "set opt_level=speed\n" + text + "\nfunction %timed() -> i64 {\n" + "\n".join(lines) + "\n}\n"


def measure_wasm(source, rules, wanted, pairs, files, folder):
    made = optimised(files["MINI"], rules, folder / f"{source.stem}.{rules}.clif")
    made["seconds"] = seconds_of_opt(files["MINI"], rules, source.stem)
    done = run(REWRIGHT, "bench", "--native", *RULES[rules], "--format", "json", files["MINI"], codes=(0, 1))
    functions = {f["name"]: f for f in json.loads(done.stdout)["files"][0]["functions"]}
    executed = {}
    for version in ("original", "cranelift", "ours", "both"):
        whole, rest = (functions[f"%call_{name}"]["versions"][version]["executed"] for name in ("all", "rest"))
        executed[version] = whole - rest
    made["instructions"] = executed
    said = [(name, f[kind]) for name, f in functions.items() for kind in ("difference", "problem")]
    made["problems"] = [f"{name}: {what}" for name, what in said if what]
    made["same"] = not any(f["difference"] for f in functions.values())
    made["same_code"], made["time"] = False, None
    text = files["SMALL"].read_text()
    repeats = max(1, math.ceil(TIMED_CLIF / max(nanoseconds(folder / f"{source.stem}.SMALL", 3) / 3, 1)))
    timing = folder / f"{source.stem}.timed.clif"
    timing.write_text(harness(text, repeats))
    command = [REWRIGHT, "run", timing, *RULES[rules], "--format", "json", "--timeout", 300, "--fn", "timed",
               f"--compare={max(pairs, 1)}"]
    reports = [json.loads(run(*command, codes=(0, 1)).stdout) for _ in range(BATCHES if pairs else 1)]
    values = {f"{int(report[side]['values']) % 2**64:016x}" for report in reports for side in ("before", "after")}
    made["same"] = made["same"] and values == {wanted["SMALL"]}
    if pairs:
        low, *_, high = medians = sorted(1 / report["ratio"] for report in reports)
        made["time"] = {"median": statistics.median(medians), "low": low, "high": high, "pairs": BATCHES * pairs}
    return made


# The table.


def findings(row):
    """What is not as it should be."""
    if "error" in row:
        return ["NOT MEASURED: " + row["error"].splitlines()[0]]
    found = [] if row["same"] else ["RESULTS DIFFER"]
    found += [f"failed: {which}" for which in row["failed"]]
    found += [f"budget of {which} ended" for which in row["exhausted"]]
    found += [f"{row['seconds']:.2f} s"] if row["seconds"] >= SECONDS_OF_OPT else []
    found += ["SLOWER"] if row["time"] and row["time"]["low"] > SLOWER else []
    return found


def instructions(row):
    counts = row["instructions"]
    if row["same_code"]:
        return "="
    if counts is None:
        return "-"
    if "ours" in counts:
        return " ".join(f"{counts[version] / max(counts['cranelift'], 1):.3f}" for version in ("ours", "both"))
    return f"{counts['after'] / max(counts['before'], 1):.3f}"


def line(row):
    start = f"{row['kernel']:<16}{row['form']:<12}{row['rules']:<7}"
    if "error" in row:
        return f"{start}  {findings(row)[0]}"
    time = row["time"]
    interval = f"{time['median']:.3f} ({time['low']:.3f} to {time['high']:.3f})" if time else ""
    return (f"{start}{row['seconds']:>6.2f}  {'yes' if row['same'] else 'NO':<5}{instructions(row):<14}{interval:<25}"
            f"{'; '.join(findings(row))}").rstrip()


def summary(rows):
    """Of each form and rules: geometric means, and how many kernels are not as they should be."""
    for form, rules in dict.fromkeys((row["form"], row["rules"]) for row in rows):
        own = [row for row in rows if (row["form"], row["rules"]) == (form, rules)]
        times = [math.log(row["time"]["median"]) for row in own if row.get("time")]
        seconds = [row["seconds"] for row in own if "seconds" in row]
        mean = f"{math.exp(statistics.mean(times)):.3f} over {len(times)} (geometric mean)" if times else "not measured"
        same = sum(row.get("same_code", False) for row in own)
        print(f"{form}, {rules}: {len(own)} kernels, {sum(not findings(row) for row in own)} as they should be; opt "
              f"{max(seconds, default=0):.2f} s at most; {same} with the same machine code; time {mean}")


class Progress:
    """A line on a terminal."""

    def __init__(self, total):
        self.done, self.total = 0, total

    def next(self, what):
        self.done += 1
        if sys.stderr.isatty():
            print(f"\r\033[K{self.done}/{self.total} {what}", end="", file=sys.stderr, flush=True)

    def clear(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = sorted(path.stem for path in KERNELS.glob("*.c"))
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="all 30 by default")
    parser.add_argument("--forms", default=",".join(FORMS), help=f"of {', '.join(FORMS)}")
    parser.add_argument("--rules", default=",".join(RULES), help=f"of {', '.join(RULES)}")
    parser.add_argument("--pairs", type=int, default=31, help="of timed runs; 0: no times")
    parser.add_argument("--json", help="where to write all figures")
    parser.add_argument("--keep", help="a folder for all files that are made")
    given = parser.parse_args()
    for what, chosen, known in [("kernel", given.kernels, names), ("form", given.forms.split(","), FORMS),
                                ("rules", given.rules.split(","), list(RULES))]:
        for name in chosen:
            if name not in known:
                parser.error(f"there is no {what} `{name}`: {', '.join(known)}")
    given.forms, given.rules = given.forms.split(","), given.rules.split(",")
    given.kernels = given.kernels or names
    of_forms = {"O0-mem2reg": OPT, "wasm": WASMTIME}
    for program in [REWRIGHT, CLANG, *(of_forms[form] for form in given.forms if form in of_forms)]:
        if not shutil.which(program):
            parser.error(f"{program} is not there; see the head of scripts/polybench.py")
    if not shutil.which(VALGRIND):
        print(f"{VALGRIND} is not there: instructions of LLVM IR are not counted", file=sys.stderr)
    return given


def measure(given, folder):
    sources = [KERNELS / f"{name}.c" for name in given.kernels]
    wanted, rows = {}, []
    for source in sources:
        wanted[source.stem] = {}
        for size in ("MINI", "SMALL", "MEDIUM"):
            program = folder / f"{source.stem}.{size}"
            run(CLANG, "-O0", f"-D{size}", source, "-o", program)
            wanted[source.stem][size] = run(program).stdout.strip()
    if "wasm" in given.forms:
        wasm = {size: wasm_functions(sources, size, folder / f"wasm-{size}") for size in ("MINI", "SMALL")}
    progress = Progress(len(sources) * len(given.forms) * len(given.rules))
    print(f"{'kernel':<16}{'form':<12}{'rules':<9}{'opt':>4}  {'same':<5}{'instructions':<14}time")
    for source in sources:
        name = source.stem
        for form, rules in ((form, rules) for form in given.forms for rules in given.rules):
            progress.next(f"{name} {form} {rules}")
            row = {"kernel": name, "form": form, "rules": rules}
            try:
                if form == "wasm":
                    files = {size: of[name] for size, of in wasm.items()}
                    row |= measure_wasm(source, rules, wanted[name], given.pairs, files, folder)
                else:
                    row |= measure_llvm(source, form, rules, wanted[name], given.pairs, folder)
            except RuntimeError as why:
                row["error"] = str(why)
            rows.append(row)
            progress.clear()
            print(line(row), flush=True)
            if given.json:
                Path(given.json).write_text(json.dumps(rows, indent=1))
    return rows


def main():
    given = options()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(given.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            rows = measure(given, folder)
        except RuntimeError as why:
            print(why, file=sys.stderr)
            sys.exit(2)
    summary(rows)
    sys.exit(any(findings(row) for row in rows))


if __name__ == "__main__":
    main()
