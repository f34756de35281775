#!/usr/bin/env python3
"""Figures of `rewright validate` on pairs of MLIR files: verdicts against what is known of each pair, and times.

Usage: scripts/mlir_pairs.py FOLDER [PROGRAM]

FOLDER has a file truth.csv with a head and the columns name, source, target and observed (or truth): `same` or `eq`, `ne`,
or anything else where nothing is known. A pair that differs may be proved on a condition; one that is the same must not
be refuted. Exits with 1 where a verdict is wrong.
"""

import collections
import csv
import json
import pathlib
import subprocess
import sys
import time


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    program = sys.argv[2] if len(sys.argv) == 3 else "target/release/rewright"
    counts, times, wrong = collections.Counter(), [], []
    with open(folder / "truth.csv", newline="") as file:
        for row in csv.DictReader(file):
            truth = row.get("observed") or row.get("truth")
            pair = [str(folder / row["source"]), str(folder / row["target"])]
            start = time.monotonic()
            done = subprocess.run([program, "validate", *pair, "--format", "json"], capture_output=True, text=True)
            times.append(time.monotonic() - start)
            try:
                functions = json.loads(done.stdout)["functions"]
            except (ValueError, KeyError):
                print(f"{row['name']}: no report: {done.stderr.strip()}")
                counts[truth, "no report"] += 1
                continue
            for function in functions:
                outcome = function["outcome"]
                counts[truth, outcome] += 1
                if (truth, outcome) in {("same", "refuted"), ("eq", "refuted"), ("ne", "proved")} or outcome == "contradiction":
                    wrong.append(f"{row['name']} ({truth}): {function['text']}")
                elif outcome == "unknown":
                    print(f"{row['name']} ({truth}): {function['text']}")
    for (truth, outcome), count in sorted(counts.items()):
        print(f"{count:>6}  {truth:<6} {outcome}")
    times.sort()
    if times:
        at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))]
        print(f"milliseconds per pair: median {at(0.5):.0f}, 99 % {at(0.99):.0f}, most {at(1):.0f}")
    print(f"{len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
