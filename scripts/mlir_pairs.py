#!/usr/bin/env python3
"""Figures of `rewright validate` on pairs of MLIR files: verdicts against what is known of each pair, and times.

Usage: scripts/mlir_pairs.py FOLDER [PROGRAM]

FOLDER has a file truth.csv with a head and the columns name, source, target and observed (or truth): `same` or `eq`, `ne`,
or anything else where nothing is known; `origin` (`pass` or anything else) is optional. A pair that differs may be proved
on a condition; one that is the same must not be refuted. Exits with 1 where a verdict is wrong.
"""

import collections
import csv
import json
import pathlib
import resource
import subprocess
import sys

SAME, DIFFERENT = {"same", "eq"}, {"ne"}


def processor_time() -> float:
    """Of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def verdicts(program: str, pair: list[str]) -> tuple[list[dict], float]:
    """The functions of a report, and the milliseconds of processor time that it took."""
    start = processor_time()
    done = subprocess.run([program, "validate", *pair, "--format", "json"], capture_output=True, text=True)
    took = 1000 * (processor_time() - start)
    try:
        return json.loads(done.stdout)["functions"], took
    except (ValueError, KeyError):
        sys.exit(f"{' '.join(pair)}: no report: {done.stderr.strip()}")


def outcome(function: dict) -> str:
    """The verdict in one word; `contradiction` where it is both proved and refuted."""
    if function["verdict"] == "unknown" and "before" in function:
        return "contradiction"
    return "proved if" if "precondition" in function else function["verdict"]


def is_wrong(truth: str, found: str) -> bool:
    return found == "contradiction" or (truth in SAME and found == "refuted") or (truth in DIFFERENT and found == "proved")


def share(counts: collections.Counter, wanted, good) -> str:
    all_ = sum(n for key, n in counts.items() if wanted(*key))
    some = sum(n for key, n in counts.items() if wanted(*key) and good(key[2]))
    return f"{some} of {all_} ({100 * some / all_:.1f} %)" if all_ else "none"


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    program = sys.argv[2] if len(sys.argv) == 3 else "target/release/rewright"
    counts, times, wrong, witnesses = collections.Counter(), [], [], collections.Counter()
    with open(folder / "truth.csv", newline="") as file:
        for row in csv.DictReader(file):
            truth, origin = row.get("observed") or row.get("truth"), row.get("origin", "")
            functions, took = verdicts(program, [str(folder / row["source"]), str(folder / row["target"])])
            times.append((took, row["name"]))
            for function in functions:
                found = outcome(function)
                counts[origin, truth, found] += 1
                if is_wrong(truth, found):
                    wrong.append(f"{row['name']} ({truth}): {json.dumps(function)}")
                if found == "unknown":
                    print(f"{row['name']} ({truth}): {'; '.join(function['reasons'])}")
                if found == "proved if":
                    witnesses["outside" in function] += 1
    for key, count in sorted(counts.items()):
        print(f"{count:>6}  {'  '.join(f'{part:<8}' for part in key)}")
    proved = lambda found: found in ("proved", "proved if")
    print("passes that agree, proved:", share(counts, lambda o, t, f: o == "pass" and t in SAME, proved))
    differs = lambda origin, truth, found: truth in DIFFERENT and found != "proved if"
    print("that differ, refuted:", share(counts, differs, lambda found: found == "refuted"))
    print("that differ, unknown:", share(counts, differs, lambda found: found == "unknown"))
    print(f"conditions with an input outside on which they differ: {witnesses[True]} of {witnesses.total()}")
    times.sort()
    if times:
        at = lambda part: times[min(len(times) - 1, int(part * len(times)))][0]
        print(f"milliseconds per pair: median {at(0.5):.0f}, 99 % {at(0.99):.0f}, most {at(1):.0f} ({times[-1][1]})")
    print(f"{len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
