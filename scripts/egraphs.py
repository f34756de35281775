#!/usr/bin/env python3
"""Extraction against the best results known, and against CBC on the plain model.

usage: scripts/egraphs.py FOLDER [--limit SECONDS] [--cbc] [--part K/N] [--rewright BINARY]

FOLDER has serialised e-graphs (JSON of the crate egraph-serialize), and `known.csv` with columns `file`, `cost` and
`proved_optimal`. Each is given to `rewright extract`. With `--cbc`, each is also written as the plain integer program
and solved by `cbc` (Debian's `coinor-cbc`) right after: a variable per node and per class, a class has a node if it is
needed, and levels forbid cycles. Levels stand only between classes of one strongly connected component, and what roots
do not reach is left out, so the model is no larger than it must be. Both sides have the same limit of processor time,
and the time of a side is that of its whole process. Figures should come from a build with `--release`.
"""

import argparse
import csv
import json
import math
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REWRIGHT = Path(__file__).resolve().parent.parent / "target" / "release" / "rewright"


class Graph:
    """Classes that roots reach, each with the cost and the child classes of its nodes."""

    def __init__(self, path):
        data = json.loads(path.read_text())
        nodes = data["nodes"]
        of = {name: node["eclass"] for name, node in nodes.items()}
        members = {}
        for node in nodes.values():
            children = {of[child] for child in node["children"]}
            members.setdefault(node["eclass"], []).append((node["cost"], children))
        self.roots = sorted({of.get(root, root) for root in data["root_eclasses"]})
        self.classes, stack = {}, list(self.roots)
        while stack:
            name = stack.pop()
            if name not in self.classes:
                # A node below itself is never chosen.
                self.classes[name] = [node for node in members[name] if name not in node[1]]
                stack += [child for _, children in self.classes[name] for child in children]
        self.component = components({name: {c for _, cs in ns for c in cs} for name, ns in self.classes.items()})

    def model(self):
        """The plain integer program in the LP format."""
        number = {name: i for i, name in enumerate(self.classes)}
        size = {}
        for component in self.component.values():
            size[component] = size.get(component, 0) + 1
        objective, rows, binary, levels = [], [f"a{number[root]} = 1" for root in self.roots], [], []
        for name, nodes in self.classes.items():
            c, component = number[name], self.component[name]
            picks = [f"x{c}_{n}" for n in range(len(nodes))]
            binary += [f"a{c}", *picks]
            rows.append(" + ".join(picks) + f" - a{c} = 0" if picks else f"a{c} = 0")
            if size[component] > 1:
                levels.append(f"0 <= l{c} <= {size[component]}")
            for pick, (cost, children) in zip(picks, nodes):
                objective.append(f"{cost} {pick}")
                for child in sorted(number[child] for child in children):
                    rows.append(f"{pick} - a{child} <= 0")
                for child in sorted(children):
                    if self.component[child] == component:
                        big = size[component] + 1
                        rows.append(f"l{c} - l{number[child]} - {big} {pick} >= {1 - big}")
        text = ["Minimize", *wrapped("obj: ", objective), "Subject To"]
        text += [line for i, row in enumerate(rows) for line in wrapped(f"r{i}: ", [row])]
        return "\n".join(text + ["Bounds", *levels, "Binaries", *binary, "End", ""])


def wrapped(head, terms):
    """A sum on lines that every reader of the format accepts."""
    words = (head + " + ".join(terms)).split(" ")
    return [" ".join(words[i:i + 40]) for i in range(0, len(words), 40)]


def components(children):
    """Strongly connected components (Tarjan), as a number for each class."""
    index, low, result, stack, on_stack, count = {}, {}, {}, [], set(), 0
    for start in children:
        work = [(start, iter(sorted(children[start])))] if start not in index else []
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            child = next(rest, None)
            if child is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        result[member] = count
                        if member == node:
                            break
                    count += 1
            elif child not in index:
                work.append((child, iter(sorted(children[child]))))
            elif child in on_stack:
                low[node] = min(low[node], index[child])
    return result


def timed(command):
    """What a command prints, and the processor time that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(binary, path, limit):
    """Cost, whether it is proved to be optimal, and processor time."""
    command = [binary, "extract", path, "--format", "json", "-q"]
    command += ["--time-limit", str(limit)] if limit else []
    text, seconds = timed(command)
    row = json.loads(text)
    return row["cost"], row["status"] == "optimal", seconds


def cbc(path, limit):
    """The same of CBC; no cost where it found nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.lp"
        file.write_text(Graph(path).model())
        command = ["cbc", file, "-threads", "0", "-ratioGap", "0", "-seconds", str(limit), "-solve", "-quit"]
        text, seconds = timed(command)
    cost = re.search(r"Objective value:\s+(\S+)", text)
    # Where presolve solves the whole model, CBC prints another line.
    whole = re.search(r"Optimal - objective value (\S+)", text)
    value = float(cost[1]) if cost else float(whole[1]) if whole else math.inf
    proved = "Result - Optimal solution found" in text or (whole is not None and cost is None)
    return value, proved, seconds


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--cbc", action="store_true")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--rewright", type=Path, default=REWRIGHT)
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    with open(args.folder / "known.csv", newline="") as file:
        known = list(csv.DictReader(file))[part - 1::parts]
    dearer, unproved, faster, slower, ratios = [], [], 0, [], []
    for row in known:
        path = args.folder / row["file"]
        cost, proved, seconds = ours(args.rewright, path, args.limit)
        if cost > float(row["cost"]) + 1e-6 * max(1, abs(cost)):
            dearer.append(row["file"])
        if row["proved_optimal"] == "True" and not proved:
            unproved.append(row["file"])
        line = f"{row['file']}: {cost:g}{' optimal' if proved else ''} in {seconds:.3f} s (known {row['cost']})"
        if args.cbc:
            theirs, theirs_proved, theirs_seconds = cbc(path, args.limit or 10)
            line += f"; CBC {theirs:g}{' optimal' if theirs_proved else ''} in {theirs_seconds:.3f} s"
            if proved and theirs_proved and abs(cost - theirs) > 1e-4 * max(1, abs(cost)):
                sys.exit(f"{line}\nboth are proved to be optimal and differ")
            # Without a proof on either side, the better result counts. CBC prints costs with few digits.
            if math.isclose(cost, theirs, rel_tol=1e-6):
                theirs = cost
            if (proved, -cost, -seconds) > (theirs_proved, -theirs, -theirs_seconds):
                faster += 1
            else:
                slower.append(row["file"])
            if proved and theirs_proved:
                ratios.append(math.log(max(theirs_seconds, 1e-3) / max(seconds, 1e-3)))
        print(line, flush=True)
    print(f"{len(known)} files: {len(dearer)} dearer than known, {len(unproved)} not proved that are known to be optimal")
    for name, files in (("dearer", dearer), ("not proved", unproved), ("CBC is faster or better", slower)):
        print("".join(f"{name}: {file}\n" for file in files), end="")
    if args.cbc:
        print(f"faster than CBC, or better where neither ends: {faster} of {len(known)} ({100 * faster / len(known):.1f} %)")
        if ratios:
            mean = math.exp(sum(ratios) / len(ratios))
            print(f"where both prove: CBC takes {mean:.1f} times our processor time (geometric mean of {len(ratios)})")
    sys.exit(1 if dearer else 0)


main()
