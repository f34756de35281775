#!/usr/bin/env python3
"""Executed instructions against eggcc's own results.

usage: scripts/eggcc.py FOLDER [PROGRAM..] [-- ARGUMENT..]

FOLDER is a copy of eggcc's repository, or of its folder `tests`: programs in Bril, and what eggcc made of each
(`tests/snapshots/files__NAME-optimize.snap`). Both are translated to CLIF in the same way, run on the arguments that
the program names, and counted by `rewright bench --loops`; all versions must print the same. Constants, copies and
jumps to the next block do not count. Arguments behind `--` go to `rewright bench`. REWRIGHT names the program, if it is not
target/debug/rewright.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

REWRIGHT = os.environ.get("REWRIGHT", Path(__file__).resolve().parent.parent / "target" / "debug" / "rewright")
Instruction = namedtuple("Instruction", "dest type op args labels callee value")
Function = namedtuple("Function", "name params result blocks")
BINARY = {
    "add": "iadd", "sub": "isub", "mul": "imul", "div": "sdiv", "and": "band", "or": "bor", "bitand": "band",
    "smax": "smax", "smin": "smin", "shl": "ishl", "shr": "sshr",
}
COMPARE = {"eq": "eq", "lt": "slt", "gt": "sgt", "le": "sle", "ge": "sge"}
ENDS = {"jmp", "br", "ret"}
# Bytes of a stack slot whose size is not a constant.
UNKNOWN_SIZE = 1 << 21


class Unknown(Exception):
    """What this script does not translate."""


def machine(ty):
    """The type in CLIF."""
    if ty == "bool":
        return "i8"
    if ty == "int" or ty.startswith("ptr"):
        return "i64"
    raise Unknown(f"the type {ty}")


def instruction(text):
    head, _, rest = text.partition("=") if re.match(r"[^=]*:[^=]*=", text) else ("", "", text)
    dest, _, ty = (part.strip() for part in head.partition(":"))
    words = rest.split()
    op, words = words[0], words[1:]
    callee = next((w[1:] for w in words if w.startswith("@")), None)
    labels = [w[1:] for w in words if w.startswith(".")]
    value = words[0] if op == "const" else None
    args = [] if op == "const" else [w for w in words if w[0] not in "@."]
    return Instruction(dest or None, ty or None, op, args, labels, callee, value)


def parse(text):
    """The functions of a program in Bril, and its arguments."""
    args = re.search(r"# ARGS:(.*)", text)
    text = re.sub(r"#.*", "", text)
    functions = []
    for name, params, result, body in re.findall(r"@([\w.]+)\s*(\([^)]*\))?\s*(?::\s*([^{]+?))?\s*\{(.*?)\n?\}", text, re.S):
        params = [tuple(w.strip() for w in p.split(":")) for p in params.strip("()").split(",") if p.strip()]
        blocks, current = [], ("", [])
        # Labels become statements.
        for part in re.sub(r"^\s*\.([\w.]+)\s*:", r";.\1:;", body, flags=re.M).split(";"):
            part = part.strip()
            if part.startswith("."):
                blocks.append(current)
                current = (part[1:-1], [])
            elif part and not (current[1] and current[1][-1].op in ENDS):
                current[1].append(instruction(part))
        blocks.append(current)
        functions.append(Function(name, params, result or None, blocks))
    return functions, args.group(1).split() if args else []


class Translation:
    """One function to CLIF. Variables become values; those that are alive where edges meet become parameters."""

    def __init__(self, function, signatures):
        self.f, self.signatures = function, signatures
        self.labels = [label for label, _ in function.blocks]
        self.code = dict(function.blocks)
        self.types = dict(function.params)
        self.constants = {}
        for _, code in function.blocks:
            for i in code:
                if i.dest:
                    known = self.constants.get(i.dest, i.value)
                    self.constants[i.dest] = i.value if i.op == "const" and known == i.value else False
                    self.types[i.dest] = i.type
        for name, _ in function.params:
            self.constants[name] = False
        self.values, self.slots, self.callees, self.lines = 0, [], [], []
        self.flow()

    def flow(self):
        """Edges, reachable blocks in reverse post-order, and which variables are alive at each block's start."""
        self.edges = {}
        for n, (label, code) in enumerate(self.f.blocks):
            last = code[-1] if code else None
            if last and last.op in ENDS:
                self.edges[label] = last.labels
            else:
                self.edges[label] = self.labels[n + 1 : n + 2]
        order, seen = [], set()

        def visit(label):
            if label not in seen:
                seen.add(label)
                for target in reversed(self.edges[label]):
                    visit(target)
                order.append(label)

        visit("")
        self.order = order[::-1]
        self.ways_in = {label: [b for b in self.order for t in self.edges[b] if t == label] for label in self.labels}
        self.alive = {label: set() for label in self.labels}
        changed = True
        while changed:
            changed = False
            for label in reversed(self.order):
                alive = set().union(*(self.alive[t] for t in self.edges[label])) if self.edges[label] else set()
                for i in reversed(self.code[label]):
                    alive -= {i.dest}
                    alive |= set(i.args)
                changed |= alive != self.alive[label]
                self.alive[label] = alive

    def new(self):
        self.values += 1
        return f"v{self.values - 1}"

    def emit(self, text, result=True):
        value = self.new() if result else None
        self.lines.append(f"    {value} = {text}" if value else f"    {text}")
        return value

    def callee(self, name, params, results):
        entry = (name, tuple(params), tuple(results))
        if entry not in self.callees:
            self.callees.append(entry)
        return f"fn{self.callees.index(entry)}"

    def meets(self, label):
        return sorted(self.alive[label]) if len(self.ways_in[label]) > 1 else []

    def edge(self, label, now):
        args = ", ".join(self.read(now, name) for name in self.meets(label))
        return f"block{self.number[label]}" + (f"({args})" if args else "")

    def read(self, now, name):
        if name not in now:
            now[name] = self.emit(f"iconst.{machine(self.types[name])} 0")
        return now[name]

    def text(self):
        params = [self.new() for _ in self.f.params]
        now = {"": dict(zip((name for name, _ in self.f.params), params))}
        # The entry of CLIF has no way in.
        first = 1 if self.ways_in[""] else 0
        reached = [label for label in self.labels if label in set(self.order)]
        self.number = {label: n + first for n, label in enumerate(reached)}
        blocks = {}
        if first:
            blocks[None] = f"    jump {self.edge('', now[''])}"
            now[""] = {}
        for label in self.order:
            self.lines = []
            if label in now:
                own = now[label]
            elif self.meets(label) or len(self.ways_in[label]) != 1:
                own = {}
            else:
                own = dict(now[self.ways_in[label][0]])
            meeting = self.meets(label)
            heads = [(name, self.new()) for name in meeting]
            own.update(heads)
            now[label] = own
            for i in self.code[label]:
                self.instruction(i, own, label)
            if not self.code[label] or self.code[label][-1].op not in ENDS:
                targets = self.edges[label]
                self.emit(f"jump {self.edge(targets[0], own)}" if targets else "return", False)
            blocks[label] = (heads, self.lines)
        return self.assemble(params, blocks, reached, first)

    def assemble(self, params, blocks, reached, first):
        types = [machine(ty) for _, ty in self.f.params]
        result = f" -> {machine(self.f.result)}" if self.f.result else ""
        out = [f"function %{self.f.name}({', '.join(types)}){result} {{"]
        out += [f"    ss{n} = explicit_slot {size}, align = 8" for n, size in enumerate(self.slots)]
        for n, (name, takes, gives) in enumerate(self.callees):
            arrow = f" -> {', '.join(gives)}" if gives else ""
            linked = "" if name.startswith("print_") else "colocated "
            out.append(f"    fn{n} = {linked}%{name}({', '.join(takes)}){arrow}")
        entry = ", ".join(f"{value}: {ty}" for value, ty in zip(params, types))
        if first:
            out += [f"block0({entry}):" if entry else "block0:", blocks[None]]
        for label in reached:
            heads, lines = blocks[label]
            given = ", ".join(f"{value}: {machine(self.types[name])}" for name, value in heads)
            given = entry if label == "" and not first else given
            out += [f"block{self.number[label]}({given}):" if given else f"block{self.number[label]}:", *lines]
        return "\n".join(out) + "\n}\n"

    def instruction(self, i, now, label):
        arg = [self.read(now, name) for name in i.args]
        ty = machine(i.type) if i.type else None
        if i.op == "const":
            value = {"true": "1", "false": "0"}.get(i.value, i.value)
            now[i.dest] = self.emit(f"iconst.{ty} {value}")
        elif i.op == "id":
            now[i.dest] = arg[0]
        elif i.op in BINARY:
            now[i.dest] = self.emit(f"{BINARY[i.op]} {arg[0]}, {arg[1]}")
        elif i.op in COMPARE:
            now[i.dest] = self.emit(f"icmp {COMPARE[i.op]} {arg[0]}, {arg[1]}")
        elif i.op == "not":
            now[i.dest] = self.emit(f"bxor {arg[0]}, {self.emit('iconst.i8 1')}")
        elif i.op == "neg":
            now[i.dest] = self.emit(f"ineg {arg[0]}")
        elif i.op == "select":
            now[i.dest] = self.emit(f"select {arg[0]}, {arg[1]}, {arg[2]}")
        elif i.op == "ptradd":
            known = self.constants.get(i.args[1])
            if known:
                step = self.emit(f"iconst.i64 {8 * int(known)}")
            else:
                step = self.emit(f"ishl {arg[1]}, {self.emit('iconst.i64 3')}")
            now[i.dest] = self.emit(f"iadd {arg[0]}, {step}")
        elif i.op == "alloc":
            known = self.constants.get(i.args[0])
            self.slots.append(8 * int(known) if known else UNKNOWN_SIZE)
            now[i.dest] = self.emit(f"stack_addr.i64 ss{len(self.slots) - 1}")
        elif i.op == "load":
            now[i.dest] = self.emit(f"load.{ty} notrap aligned {arg[0]}")
        elif i.op == "store":
            self.emit(f"store notrap aligned {arg[1]}, {arg[0]}", False)
        elif i.op == "free" or i.op == "nop":
            pass
        elif i.op == "print":
            for name, value in zip(i.args, arg):
                shown = machine(self.types[name])
                self.emit(f"call {self.callee(f'print_{shown}', [shown], [])}({value})", False)
        elif i.op == "call":
            params, result = self.signatures[i.callee]
            results = [machine(result)] if result else []
            call = self.callee(i.callee, [machine(ty) for _, ty in params], results)
            value = self.emit(f"call {call}({', '.join(arg)})", bool(i.dest))
            if i.dest:
                now[i.dest] = value
        elif i.op == "jmp":
            self.emit(f"jump {self.edge(i.labels[0], now)}", False)
        elif i.op == "br":
            then, els = (self.edge(target, now) for target in i.labels)
            self.emit(f"brif {arg[0]}, {then}, {els}", False)
        elif i.op == "ret":
            self.emit(f"return {', '.join(arg)}".strip(), False)
        else:
            raise Unknown(f"the operation {i.op}")


def translate(text):
    """A program in Bril as a file of CLIF with a directive that runs it."""
    functions, args = parse(text)
    signatures = {f.name: (f.params, f.result) for f in functions}
    out = ["test interpret", "target x86_64", ""]
    for shown in ("i64", "i8"):
        out.append(f"function %print_{shown}({shown}) {{\nblock0(v0: {shown}):\n    return\n}}\n")
    for f in functions:
        out.append(Translation(f, signatures).text())
        if f.name == "main":
            given = [{"true": "1", "false": "0"}.get(a, a) for a in args[: len(f.params)]]
            out.append(f"; print: %main({', '.join(given)})\n")
    return "\n".join(out)


def counted(files, more):
    """What `rewright bench --loops` says of files, by name."""
    command = [REWRIGHT, "bench", "--loops", "--format", "json", *files, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2 or not done.stdout:
        sys.exit(f"{' '.join(map(str, command[:3]))}: {done.stderr}")
    return {Path(file["file"]).stem: file for file in json.loads(done.stdout)["files"]}


def main_of(file):
    """What is said of the function that the directive runs, those that it calls included."""
    return next(function for function in file["functions"] if function["directives"])


def printed(function):
    """What is printed, as calls: eggcc puts other calls in place."""
    return {callee: calls for callee, calls in function["calls"].items() if callee.startswith("%print_")}


def main():
    arguments, more_arguments = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, more_arguments = arguments[:at], arguments[at + 1 :]
    if not arguments:
        sys.exit(__doc__)
    folder, wanted = Path(arguments[0]), set(arguments[1:])
    snapshots = {p.name[len("files__") : -len("-optimize.snap")]: p for p in folder.rglob("files__*-optimize.snap")}
    programs = {p.stem: p for p in sorted(folder.rglob("*.bril"))}
    with tempfile.TemporaryDirectory() as temporary:
        ours, theirs = Path(temporary) / "ours", Path(temporary) / "theirs"
        ours.mkdir()
        theirs.mkdir()
        names = []
        for name in sorted(snapshots):
            if wanted and name not in wanted:
                continue
            if name not in programs:
                print(f"{name}: no program in Bril", file=sys.stderr)
                continue
            try:
                (ours / f"{name}.clif").write_text(translate(programs[name].read_text()))
                snapshot = snapshots[name].read_text().split("---\n", 2)[2]
                (theirs / f"{name}.clif").write_text(translate(snapshot))
                names.append(name)
            except (Unknown, KeyError, IndexError) as why:
                print(f"{name}: not translated: {why!r}", file=sys.stderr)
        made = counted([ours / f"{name}.clif" for name in names], more_arguments)
        given = counted([theirs / f"{name}.clif" for name in names], more_arguments)
    more = fewer = equal = 0
    print(f"{'program':<36}{'before':>9}{'eggcc':>9}{'std':>9}{'loops':>9}{'CPU ms':>9}")
    for name in names:
        mine, other = main_of(made[name]), main_of(given[name])
        executed, eggcc = mine["executed"], other["executed"]["before"]
        new = executed["with_loops"]
        if None in (eggcc, new):
            print(f"{name:<36}  not run: {mine['problem'] or other['problem']}")
            continue
        same = printed(mine) == printed(other) and mine["same"]
        wrong = "" if same else "  WHAT IS PRINTED DIFFERS"
        more, fewer, equal = more + (new > eggcc), fewer + (new < eggcc), equal + (new == eggcc)
        columns = (executed["before"], eggcc, executed["without"], new)
        time = f"{made[name]['milliseconds']['with_loops']:>9.1f}"
        print(f"{name:<36}" + "".join(f"{n:>9}" for n in columns) + time + (" *" if new > eggcc else "") + wrong)
    total = sum(made[name]["milliseconds"]["with_loops"] for name in names)
    print(f"{len(names)} programs: fewer than eggcc {fewer}, as many {equal}, more {more} (*); {total:.0f} ms of processor time")


if __name__ == "__main__":
    main()
