#!/usr/bin/env python3
"""What `rewright validate` says of wrong second versions: mutants of what LLVM's passes make of C files.

    scripts/mutants.py [--rewright PROGRAM] [--count N] [--seed N] [--jobs N] [--json FILE] FILE.c...

A mutant is a second version with one instruction changed: an operator, a relation, a constant (by one, or another bit), an
operand, a flag that is added, a `freeze` or store that is dropped, a division that is hoisted to the entry, a loop whose
branch is turned or that no longer runs for ever. The verdicts of the solver (`--method refined`) and of `validate`
by itself are compared with those of runs (`--method replayed`, with several seeds, and `compiled` code).

WRONG is a mutant that is proved although a run refutes it. A proved one that compiled code speaks against is listed to be
looked at. The exit code is 1 if anything is WRONG. CLANG and OPT name the programs (clang-19, opt-19).
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PIPELINES = ["verify", "instcombine", "early-cse", "gvn", "simplifycfg", "reassociate", "loop-mssa(licm)",
             "loop(loop-rotate)", "loop(indvars)", "default<O1>", "default<O2>"]
SEEDS = range(2, 4)

BINARY = ["add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "sdiv", "urem", "srem"]
SAME_FLAGS = [["add", "sub", "mul", "shl"], ["and", "or", "xor"], ["lshr", "ashr", "udiv", "sdiv"], ["urem", "srem"],
              ["fadd", "fsub", "fmul", "fdiv"], ["smax", "smin", "umax", "umin"], ["zext", "sext"]]
RELATIONS = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
FLAGS = {"add": "nsw", "sub": "nsw", "mul": "nsw", "shl": "nuw", "lshr": "exact", "ashr": "exact", "sdiv": "exact",
         "udiv": "exact", "or": "disjoint", "zext": "nneg", "getelementptr": "inbounds"}


def run(*command):
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


# Each way to change: from the lines of a function and the number of one of them to new lines, or `None`.

def another_operator(lines, at, rng):
    found = re.match(r"(  %\S+ = (?:tail call i\d+ @llvm\.)?)(\w+)(.*)", lines[at])
    family = found and next((f for f in SAME_FLAGS if found[2] in f), None)
    if not family:
        return None
    word = rng.choice([w for w in family if w != found[2]])
    rest = found[3]
    if word in ("xor", "and"):
        rest = rest.replace(" disjoint", "")
    if word == "sext":
        rest = rest.replace(" nneg", "")
    if found[2] in ("smax", "smin", "umax", "umin") or "@llvm." not in found[1]:
        return changed(lines, at, found[1] + word + rest)
    return None


def another_relation(lines, at, rng):
    found = re.match(r"(  %\S+ = icmp (?:samesign )?)(\w+)(.*)", lines[at])
    return found and changed(lines, at, found[1] + rng.choice([r for r in RELATIONS if r != found[2]]) + found[3])


def another_constant(lines, at, rng):
    found = [m for m in re.finditer(r"(?<=[ ,\[])-?\d+(?=[,\] ]|$)", lines[at]) if lines[at].startswith("  %") or " store " in lines[at]]
    found = [m for m in found if not lines[at][:m.start()].endswith(("align ", "i", "range(i32 "))]
    if not found:
        return None
    m = rng.choice(found)
    n = int(m[0])
    new = rng.choice([n + 1, n - 1, n ^ (1 << rng.randrange(4)), -n])
    return changed(lines, at, lines[at][:m.start()] + str(new) + lines[at][m.end():])


def another_operand(lines, at, rng):
    """Another value of the same kind that is there already."""
    here = [m for m in re.finditer(r"%[\w.]+", lines[at].split(" = ")[-1])]
    if not here or "label" in lines[at] or " phi " in lines[at]:
        return None
    kinds = {}
    for line in lines[:at]:
        m = re.match(r"  (%[\w.]+) = (?:add|sub|mul|xor|or|and|phi|load) (?:nsw |nuw )*(i\d+|ptr)", line)
        if m:
            kinds[m[1]] = m[2]
    for ty, name in re.findall(r"(i\d+|ptr)(?: noundef)? (%[\w.]+)", lines[0]):
        kinds[name] = ty
    start = len(lines[at]) - len(lines[at].split(" = ")[-1])
    m = rng.choice(here)
    others = [k for k, ty in kinds.items() if k != m[0] and ty == kinds.get(m[0])]
    if not others:
        return None
    return changed(lines, at, lines[at][:start + m.start()] + rng.choice(others) + lines[at][start + m.end():])


def swapped_operands(lines, at, rng):
    found = re.match(r"(  %\S+ = (?:sub|shl|lshr|ashr|[us]div|[us]rem)[\w ]* i\d+ )(\S+), (\S+)$", lines[at])
    return found and changed(lines, at, f"{found[1]}{found[3]}, {found[2]}")


def more_flags(lines, at, rng):
    found = re.match(r"(  %\S+ = )(\w+)( .*)", lines[at])
    flag = found and FLAGS.get(found[2])
    if not flag or f" {flag} " in lines[at]:
        return None
    return changed(lines, at, f"{found[1]}{found[2]} {flag}{found[3]}")


def without_freeze(lines, at, rng):
    found = re.match(r"  (%\S+) = freeze \S+ (\S+)", lines[at])
    if not found:
        return None
    rest = lines[:at] + lines[at + 1:]
    return [re.sub(re.escape(found[1]) + r"(?![\w.])", found[2], line) for line in rest]


def without_store(lines, at, rng):
    return lines[:at] + lines[at + 1:] if lines[at].startswith("  store ") else None


def hoisted_division(lines, at, rng):
    """To the entry, if it depends on parameters only."""
    found = re.match(r"  %\S+ = [us](?:div|rem) .*", lines[at])
    parameters = set(re.findall(r"%[\w.]+", lines[0]))
    if not found or not set(re.findall(r"%[\w.]+", lines[at].split(" = ")[1])) <= parameters:
        return None
    first = next((n for n, line in enumerate(lines) if n > 0 and line.startswith("  ")), at)
    rest = lines[:at] + lines[at + 1:]
    return rest[:first] + [lines[at]] + rest[first:] if first < at else None


def turned_branch(lines, at, rng):
    found = re.match(r"(  br i1 \S+), (label \S+), (label [^,\s]+)(.*)", lines[at])
    return found and changed(lines, at, f"{found[1]}, {found[3]}, {found[2]}{found[4]}")


def loads_less(lines, at, rng):
    """A load of memory as it was at another place: moved in front of the store before it."""
    if " = load " not in lines[at] or not lines[at - 1].startswith("  store "):
        return None
    return lines[:at - 1] + [lines[at], lines[at - 1]] + lines[at + 1:]


def changed(lines, at, line):
    return lines[:at] + [line] + lines[at + 1:] if line != lines[at] else None


WAYS = [another_operator, another_relation, another_constant, another_operand, swapped_operands, more_flags, without_freeze,
        without_store, hoisted_division, turned_branch, loads_less]


def mutants(lines):
    """All places and ways at which a function can be changed; which change it is depends on the random numbers."""
    return [(way, at) for at in range(1, len(lines)) for way in WAYS]


def functions(text):
    """A module as pieces: its functions as lists of lines, and what is between them."""
    pieces, inside = [[]], False
    for line in text.splitlines():
        if line.startswith("define "):
            pieces.append([])
            inside = True
        pieces[-1].append(line)
        if inside and line == "}":
            pieces.append([])
            inside = False
    return pieces


def mutate(pieces, rng):
    """Each function changed once where that gives a valid module; how each was changed."""
    how, out = {}, []
    for piece in pieces:
        if not piece or not piece[0].startswith("define "):
            out.append(piece)
            continue
        ways = mutants(piece)
        rng.shuffle(ways)
        # All ways are tried equally often, wherever they apply.
        ways.sort(key=lambda w: rng.random() * (1 if w[0] in (without_freeze, without_store, hoisted_division, more_flags) else 3))
        for way, at in ways:
            new = way(piece, at, rng)
            if new:
                how[re.search(r"@[\w.]+", piece[0])[0]] = (way.__name__, piece[at].strip(), [l for l in new if l not in piece])
                out.append(new)
                break
        else:
            out.append(piece)
    return "\n".join("\n".join(piece) for piece in out) + "\n", how


def validity(opt, path):
    return subprocess.run([opt, "-passes=verify", "-disable-output", path], capture_output=True, text=True)


def verdicts(rewright, before, after, *arguments):
    done = subprocess.run([rewright, "validate", before, after, "--format", "json", *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{before} {after}: {done.stderr.strip()}")
    return {f["function"]: f for f in json.loads(done.stdout)["functions"]}


def judged(options, before, after, how):
    """What is said of each mutant of a module, and what runs say."""
    usual = verdicts(options.rewright, before, after)
    solver = verdicts(options.rewright, before, after, "--method", "refined")
    refuted = {}
    for seed in SEEDS:
        for name, f in verdicts(options.rewright, before, after, "--method", "replayed", "--seed", str(seed)).items():
            if f["verdict"] == "refuted":
                refuted.setdefault(name, f)
    proved = any(f["verdict"] == "proved" for f in solver.values())
    compiled = verdicts(options.rewright, before, after, "--method", "compiled") if proved else {}
    found = []
    for name, (way, was, is_) in how.items():
        if name not in usual:
            continue
        doubts = [r for r in compiled.get(name, {}).get("reasons", []) if "it may differ" in r]
        found.append({
            "function": name, "way": way, "was": was, "is": is_, "after": after,
            "usual": usual[name]["verdict"], "solver": solver[name]["verdict"], "tier": solver[name].get("tier"),
            "differs": name in refuted or usual[name]["verdict"] == "refuted", "input": refuted.get(name, {}).get("shown"),
            "compiled": doubts,
        })
    proved = [m["function"] for m in found if m["solver"] == "proved"]
    wrong = [m["function"] for m in found if m["differs"] and "proved" in (m["solver"], m["usual"])]
    print(f"{after}: {len(found)} mutants, proved: {proved}, WRONG: {wrong}", file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--rewright", default="target/release/rewright")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", help="where to leave the modules")
    parser.add_argument("--json", help="where to write what is known of each mutant")
    options = parser.parse_args()
    clang, opt = os.environ.get("CLANG", "clang-19"), os.environ.get("OPT", "opt-19")
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.work or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        seconds = []
        for number, source in enumerate(options.files):
            raw, base = folder / f"{number}.raw.ll", folder / f"{number}.base.ll"
            if source.suffix == ".ll":
                run(opt, "-S", "-passes=verify", str(source), "-o", str(base))
            else:
                run(clang, "-O1", "-w", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", str(source), "-o", str(raw))
                run(opt, "-S", "-passes=function(mem2reg)", str(raw), "-o", str(base))
            for pipeline in PIPELINES:
                second = run(opt, "-S", f"-passes={pipeline}", str(base))
                seconds.append((base, functions(second)))
        batches, made, tries = [], 0, 0
        while made < options.count and tries < 100 * len(seconds):
            base, pieces = seconds[tries % len(seconds)]
            tries += 1
            text, how = mutate(pieces, rng)
            after = folder / f"mutants.{tries}.ll"
            after.write_text(text)
            # A function that is no valid IR any more stays as it was.
            for _ in range(len(how)):
                checked = validity(opt, str(after))
                if checked.returncode == 0:
                    break
                line = re.search(r":(\d+):\d+: error", checked.stderr)
                bad = re.search(r"in function (\S+)", checked.stderr)
                name = f"@{bad[1]}" if bad else None
                if line:
                    upto = after.read_text().splitlines()[:int(line[1])]
                    name = next((re.search(r"@[\w.]+", l)[0] for l in reversed(upto) if l.startswith("define ")), None)
                if name is None or how.pop(name, None) is None:
                    how = {}
                    break
                good = next(p for p in pieces if p and p[0].startswith("define ") and re.search(r"@[\w.]+", p[0])[0] == name)
                out = [good if p and p[0].startswith("define ") and re.search(r"@[\w.]+", p[0])[0] == name else p
                       for p in functions(after.read_text())]
                after.write_text("\n".join("\n".join(p) for p in out) + "\n")
            if how:
                batches.append((str(base), str(after), how))
                made += len(how)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = [m for some in pool.map(lambda b: judged(options, *b), batches) for m in some]
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found, indent=1))
    counts = collections.Counter((m["differs"], m["usual"]) for m in found)
    print(f"{len(found)} mutants, {sum(m['differs'] for m in found)} of them differ by a run.\n")
    print("| mutants | proved | refuted | tested | unknown |\n| --- | --- | --- | --- | --- |")
    for differs, text in ((True, "differ"), (False, "no difference found")):
        print(f"| {text} | " + " | ".join(str(counts[differs, k]) for k in ("proved", "refuted", "tested", "unknown")) + " |")
    wrong = [m for m in found if m["differs"] and "proved" in (m["usual"], m["solver"])]
    doubted = [m for m in found if m["solver"] == "proved" and m["compiled"]]
    print(f"\nProved by the solver: {sum(m['solver'] == 'proved' for m in found)}; {len(wrong)} WRONG, {len(doubted)} that compiled code speaks against.")
    for title, some in (("WRONG", wrong), ("LOOK", doubted)):
        for m in some:
            print(f"{title} {m['after']} {m['function']}: {m['way']}: `{m['was']}` is {m['is']}: {m['input'] or m['compiled']}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
