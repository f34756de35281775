#!/usr/bin/env python3
"""Attacks `rewright validate --method nests`: random loops of C, and versions of them that may be wrong.

    scripts/nests_attack.py [--rewright PROGRAM] [--seed N] [--files N] [--first N]

Each file has random loops, and a second version of each: interchanged, reversed, distributed, unrolled, with another
bound, subscript, order of statements or operands. Both are compiled by clang and run on many sizes, with arrays that
overlap where nothing says that they do not. A pair that is proved, and gives another memory where its precondition
holds, is WRONG. The exit code is 1 if there is any. CLANG names the compiler (clang-19).
"""
import argparse
import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile

CLANG = os.environ.get("CLANG", "clang-19")
FLAGS = ["-O1", "-fno-vectorize", "-fno-builtin", "-ffp-contract=off", "-w"]
PER_FILE = 24
ROW = 24


class Loops:
    """Loops around statements: variables with bounds, then `array[subscript] = expression`."""

    def __init__(self, rng):
        self.rng = rng
        self.depth = rng.choice([1, 1, 2, 2, 3])
        self.ty = rng.choice(["double", "int", "float"])
        self.restrict = rng.random() < 0.6
        self.wide = rng.random() < 0.2
        self.bounds = [self.bound(level) for level in range(self.depth)]
        self.statements = [self.statement() for _ in range(rng.choice([1, 1, 2, 2, 3]))]
        self.split = False
        self.order = list(range(self.depth))
        self.reversed = set()
        self.unrolled = 1
        self.remainder = True

    def bound(self, level):
        low = self.rng.choice([0, 0, 0, 1, 2])
        high = self.rng.choice(["n", "n", "m", "n - 1", "n + 1", "7", "16"])
        if level and self.rng.random() < 0.2:
            high = "i0 + 1"
        return [low, high]

    def subscript(self):
        rng, terms = self.rng, []
        names = [f"i{k}" for k in range(self.depth)]
        rng.shuffle(names)
        if self.depth > 1 and rng.random() < 0.8:
            terms = [f"{ROW} * {names[0]}", names[1]]
        else:
            terms = [rng.choice(["", "2 * ", ""]) + names[0]]
        shift = rng.choice([0, 0, 0, 1, -1, 2])
        return " + ".join(terms) + (f" + {shift}" if shift else "")

    def statement(self):
        rng = self.rng
        read = [f"{rng.choice('abc')}[{self.subscript()}]" for _ in range(rng.choice([1, 2, 2]))]
        array, at = rng.choice("ab"), self.subscript()
        if rng.random() < 0.4:
            read[0] = f"{array}[{at}]"
        op = rng.choice(["+", "*", "-"])
        return [array, at, read, op]

    def code(self, name):
        star = "*restrict" if self.restrict else "*"
        count = "long" if self.wide else "int"
        head = f"void {name}({count} n, {count} m, {self.ty} {star} a, {self.ty} {star} b, const {self.ty} {star} c) {{\n"
        groups = [[s] for s in self.statements] if self.split else [self.statements]
        return head + "".join(self.nest(group, 0, count) for group in groups) + "}\n"

    def line(self, statement, shift=0):
        array, at, read, op = statement
        text = f"{array}[{at}] = {f' {op} '.join(read)};"
        inner = f"i{self.order[-1]}"
        return re.sub(rf"\b{inner}\b", f"({inner} + {shift})", text) if shift else text

    def nest(self, group, level, count):
        if level == self.depth:
            return " ".join(self.line(s) for s in group) + "\n"
        k = self.order[level]
        var, (low, high) = f"i{k}", self.bounds[k]
        body = self.nest(group, level + 1, count)
        if k in self.reversed:
            return f"for ({count} {var} = {high} - 1; {var} >= {low}; {var}--) {{ {body} }}\n"
        if level + 1 == self.depth and self.unrolled > 1:
            u = self.unrolled
            copies = " ".join(self.line(s, shift) for shift in range(u) for s in group)
            rest = f"for (; {var} < {high}; {var}++) {{ {body} }}" if self.remainder else ""
            return (f"{{ {count} {var} = {low}; for (; {var} < ({high}) - {u - 1}; {var} += {u}) {{ {copies} }}\n"
                    f"{rest} }}\n")
        return f"for ({count} {var} = {low}; {var} < {high}; {var}++) {{ {body} }}\n"

    def changed(self):
        """Another version, maybe wrong."""
        other, rng = copy.deepcopy(self), self.rng
        for _ in range(rng.choice([1, 1, 2])):
            kind = rng.choice(["order", "order", "split", "split", "reverse", "unroll", "unroll", "bound", "subscript",
                               "statements", "operands", "remainder"])
            if kind == "order" and not any("i0" in str(high) for _, high in self.bounds):
                rng.shuffle(other.order)
            elif kind == "split":
                other.split = True
            elif kind == "reverse":
                other.reversed.add(rng.randrange(self.depth))
            elif kind == "unroll":
                other.unrolled = rng.choice([2, 3, 4])
            elif kind == "bound" and rng.random() < 0.4:
                rng.choice(other.bounds)[0] += 1
            elif kind == "subscript" and rng.random() < 0.4:
                rng.choice(other.statements)[1] += " + 1"
            elif kind == "statements":
                rng.shuffle(other.statements)
            elif kind == "operands":
                statement = rng.choice(other.statements)
                statement[2] = statement[2][::-1]
            elif kind == "remainder":
                other.remainder = rng.random() < 0.7
        return other


DRIVER = """#include <stdio.h>
#include <string.h>
#include <stdlib.h>
typedef void F(long, long, void *, void *, void *);
%s
static char was[1 << 16], is[1 << 16];
static void fill(char *p, int size) {
  for (int i = 0; i < (1 << 16) / size; i++)
    if (size == 8) ((double *)p)[i] = (i * 37 %% 101) / 8.0 - 5;
    else if (size == 4) ((int *)p)[i] = i * 2654435761u %% 1000;
    else ((float *)p)[i] = (i * 37 %% 101) / 8.0f - 5;
}
static int apart(F *f, F *g, int size, int wide, long n, long m, int shift) {
  int bytes = size == 8 ? 8 : 4;
  fill(was, size), fill(is, size);
  long b = shift ? shift : 2500, c = shift ? 2 * shift : 4900;
  for (int k = 0; k < 2; k++) {
    char *p = (k ? is : was) + 700 * bytes;
    (k ? g : f)(n, m, p, p + b * bytes, p + c * bytes);
  }
  return memcmp(was, is, sizeof was);
}
int main(void) {
  static const int shifts[] = {0, 1, 2, 3, 24, -1, 25};
  for (int k = 0; k < COUNT; k++)
    for (long n = -2; n <= 40; n++)
      for (long m = -1; m <= 40; m += 1 + (m > 6) * 5)
        for (int s = 0; s < (int)(sizeof shifts / sizeof *shifts); s++)
          if (apart(first[k], second[k], size[k], 0, n, m, shifts[s])) printf("%%d %%ld %%ld %%d\\n", k, n, m, shifts[s]);
}
"""


def allows(precondition, names, n, m, shift, restrict):
    """Whether a precondition holds of a run."""
    if shift and restrict:
        return False
    apart = r"%\w+(?:,? and %\w+|, %\w+)* do not overlap"
    if shift and re.search(apart, precondition or ""):
        return False
    for part in re.sub(apart, "1 == 1", precondition or "1 == 1").split(" and "):
        if "wraps" in part:
            continue
        else:
            text = re.sub(r"%(\w+)", lambda found: f"({names[found.group(1)]})", part)
            text = re.sub(r"\) % (\d+) ==", r") % \1 ==", text)
            if " or " in precondition:
                return None
            if not eval(text, {}, {}):
                return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rewright", default="target/release/rewright")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first of the files")
    args = parser.parse_args()
    counts = {"pairs": 0, "differ": 0, "proved": 0, "proved if": 0, "of equal pairs": 0, "WRONG": 0}
    for number in range(args.first, args.first + args.files):
        rng = random.Random(args.seed * 1000 + number)
        pairs = [(loops := Loops(rng), loops.changed()) for _ in range(PER_FILE)]
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            for side, file in enumerate(["a", "b"]):
                with open(path(f"{file}.c"), "w") as out:
                    out.write("".join(pair[side].code(f"f{k}") for k, pair in enumerate(pairs)))
                subprocess.run([CLANG, *FLAGS, "-fno-discard-value-names", "-S", "-emit-llvm", path(f"{file}.c"), "-o",
                                path(f"{file}.ll")], check=True)
                # Runs are of what was written, without optimisation and without promises.
                with open(path(f"{file}.run.c"), "w") as out:
                    code = "".join(pair[side].code(f"{file}{k}") for k, pair in enumerate(pairs))
                    out.write(code.replace("restrict", "").replace("int n, int m", "long n, long m"))
            declared = "".join(f"F a{k}, b{k};\n" for k in range(PER_FILE))
            sizes = [{"double": 8, "int": 4, "float": 5}[pair[0].ty] for pair in pairs]
            tables = (f"enum {{ COUNT = {PER_FILE} }};\n"
                      f"static F *first[] = {{{', '.join(f'a{k}' for k in range(PER_FILE))}}};\n"
                      f"static F *second[] = {{{', '.join(f'b{k}' for k in range(PER_FILE))}}};\n"
                      f"static int size[] = {{{', '.join(map(str, sizes))}}};\n")
            with open(path("main.c"), "w") as out:
                out.write(DRIVER % (declared + tables))
            subprocess.run([CLANG, "-O1", "-fwrapv", "-w", "-fno-strict-aliasing", path("main.c"), path("a.run.c"), path("b.run.c"),
                            "-o", path("main")], check=True)
            runs = subprocess.run([path("main")], capture_output=True, text=True, timeout=600).stdout
            done = subprocess.run([args.rewright, "validate", path("a.ll"), path("b.ll"), "--method", "nests", "--format",
                                   "json"], capture_output=True, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"seed {args.seed}, file {number}: exit code {done.returncode}: {done.stderr[-2000:]}")
            report = json.loads(done.stdout)
            verdicts = {}
            for verdict in report["functions"]:
                verdicts[verdict["function"]] = verdict
            differences = {}
            for line in runs.splitlines():
                k, n, m, shift = map(int, line.split())
                differences.setdefault(k, []).append((n, m, shift))
            for k, (before, after) in enumerate(pairs):
                counts["pairs"] += 1
                # Arrays may overlap in a run only where that is no undefined behaviour.
                seen = [(n, m, s) for n, m, s in differences.get(k, []) if not (s and before.restrict)]
                counts["differ"] += bool(seen)
                verdict = verdicts.get(f"@f{k}")
                if not verdict or verdict["verdict"] != "proved":
                    continue
                precondition = verdict.get("precondition")
                counts["proved if" if precondition else "proved"] += 1
                counts["of equal pairs"] += not seen
                for n, m, shift in seen:
                    if allows(precondition, {"n": n, "m": m}, n, m, shift, before.restrict):
                        counts["WRONG"] += 1
                        print(f"WRONG: seed {args.seed}, file {number}, f{k}: n = {n}, m = {m}, overlap {shift}; "
                              f"{precondition}\n{before.code('before')}{after.code('after')}", flush=True)
                        break
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    sys.exit(1 if counts["WRONG"] else 0)


if __name__ == "__main__":
    main()
