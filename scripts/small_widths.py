#!/usr/bin/env python3
"""Random functions over integers of so few bits that all their inputs can be tried, as LLVM IR for `scripts/mutants.py`.

    scripts/small_widths.py [--count N] [--seed N] > small.ll

A function takes two integers of three bits, or three of two bits, poison and `undef` among them: `validate --method
replayed` runs it on all of them, so what it says of a mutant is the truth. Functions have operations with flags, divisions,
selections, `freeze`, a branch or a loop that counts.
"""
import argparse
import random

OPERATIONS = {"add": ["nsw", "nuw"], "sub": ["nsw", "nuw"], "mul": ["nsw", "nuw"], "shl": ["nsw", "nuw"], "lshr": ["exact"],
              "ashr": ["exact"], "and": [], "or": ["disjoint"], "xor": [], "udiv": ["exact"], "sdiv": ["exact"], "urem": [],
              "srem": []}
RELATIONS = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
INTRINSICS = ["smax", "smin", "umax", "umin", "uadd.sat", "ssub.sat", "usub.sat"]


class Function:
    """A function that is being written: its lines, and the values that may be used so far."""

    def __init__(self, rng, name):
        self.rng, self.name, self.lines, self.fresh = rng, name, [], 0
        self.width, parameters = rng.choice([(3, 2), (3, 2), (2, 3)])
        self.type = f"i{self.width}"
        self.parameters = [f"%p{n}" for n in range(parameters)]
        self.values = list(self.parameters)
        self.used = set()

    def value(self):
        """A constant, or a value: rather one that is not used yet, or little is left of a function."""
        if self.rng.random() < 0.15:
            return str(self.rng.randrange(1 << self.width))
        unused = [value for value in self.values if value not in self.used]
        chosen = self.rng.choice(unused if unused and self.rng.random() < 0.7 else self.values)
        self.used.add(chosen)
        return chosen

    def new(self, text):
        name = f"%v{self.fresh}"
        self.fresh += 1
        self.lines.append(f"  {name} = {text}")
        return name

    def condition(self):
        return self.new(f"icmp {self.rng.choice(RELATIONS)} {self.type} {self.value()}, {self.value()}")

    def operation(self):
        way, ty = self.rng.random(), self.type
        if way < 0.65:
            word = self.rng.choice([*list(OPERATIONS)[:9] * 3, *list(OPERATIONS)[9:]])
            flags = [flag for flag in OPERATIONS[word] if self.rng.random() < 0.25]
            made = self.new(" ".join([word, *flags, ty, f"{self.value()}, {self.value()}"]))
        elif way < 0.8:
            condition = self.condition()
            made = self.new(f"select i1 {condition}, {ty} {self.value()}, {ty} {self.value()}")
        elif way < 0.92:
            made = self.new(f"call {ty} @llvm.{self.rng.choice(INTRINSICS)}.{ty}({ty} {self.value()}, {ty} {self.value()})")
        else:
            made = self.new(f"freeze {ty} {self.value()}")
        self.values.append(made)

    def operations(self, most):
        for _ in range(self.rng.randrange(1, most + 1)):
            self.operation()

    def branch(self):
        """A diamond: what one arm computes is not known after it, but by its phi."""
        condition, known, ends = self.condition(), list(self.values), []
        self.lines.append(f"  br i1 {condition}, label %then, label %else")
        for label in ("then", "else"):
            self.values = list(known)
            self.lines.append(f"{label}:")
            self.operations(2)
            ends.append((self.values[-1], label))
            self.lines.append("  br label %join")
        self.values = known
        self.lines.append("join:")
        self.values.append(self.new(f"phi {self.type} " + ", ".join(f"[ {value}, %{label} ]" for value, label in ends)))

    def loop(self):
        """A loop that runs a few times, with a value that goes around."""
        start, around = self.value(), f"%v{self.fresh}"
        place = len(self.lines) + 2
        self.lines += ["  br label %loop", "loop:"]
        self.fresh += 1
        known = list(self.values)
        self.values += [around, "%i"]
        self.operations(3)
        last = self.values[-1]
        bound = self.rng.randrange(1, 1 << self.width)
        ty = self.type
        self.lines[place:place] = [f"  %i = phi {ty} [ 0, %entry ], [ %next, %loop ]",
                                   f"  {around} = phi {ty} [ {start}, %entry ], [ {last}, %loop ]"]
        self.lines += [f"  %next = add {ty} %i, 1", f"  %more = icmp ne {ty} %next, {bound}",
                       "  br i1 %more, label %loop, label %done", "done:"]
        self.values = [*known, last, around]

    def text(self):
        self.lines.append("entry:")
        self.operations(3)
        self.rng.choice([lambda: None, self.branch, self.loop])()
        self.operations(2)
        takes = ", ".join(f"{self.type} {'noundef ' if self.rng.random() < 0.5 else ''}{p}" for p in self.parameters)
        body = "\n".join(self.lines)
        return f"define {self.type} @{self.name}({takes}) {{\n{body}\n  ret {self.type} {self.values[-1]}\n}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print("\n".join(Function(rng, f"f{n}").text() for n in range(options.count)))
    for name in INTRINSICS:
        print("\n".join(f"declare i{width} @llvm.{name}.i{width}(i{width}, i{width})" for width in (2, 3)))


if __name__ == "__main__":
    main()
