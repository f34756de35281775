#!/usr/bin/env python3
"""What `rewright validate` says of Cranelift's mid-end: the functions of its own tests before and after.

    scripts/midend.py REWRIGHT FOLDER [--work DIR] [-- ARGUMENT..]

FOLDER has files of CLIF with `test optimize precise-output`: behind each function stands, as a comment, what the mid-end
makes of it. Cranelift is taken to be right, so a refuted function is an error of ours, or of Cranelift. Arguments behind
`--` go to `rewright validate`. Prints verdicts, why functions are not proved, and what is refuted; exit code 1 if
anything is.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def versions(text):
    """The file's settings, its functions, and those in comments; `None` where the file expects something else."""
    head, _, _ = text.partition("\nfunction ")
    if not re.search(r"^test optimize\b.*precise-output", head, re.M):
        return None
    settings = [line for line in head.splitlines() if line.startswith(("set ", "target "))]
    before, after, into = [], [], None
    for line in text.splitlines():
        if line.startswith("function "):
            into = before
        elif line.startswith("; function "):
            into, line = after, line[2:]
        elif into is after:
            line = line[2:] if line.startswith("; ") else ""
        if into is not None:
            into.append(line)
            if line == "}":
                into = None
    return ["\n".join(["test optimize", *settings, "", *lines, ""]) for lines in (before, after)]


def main():
    arguments = sys.argv[1:]
    more = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    arguments = arguments[:arguments.index("--")] if "--" in arguments else arguments
    work = tempfile.mkdtemp()
    if "--work" in arguments:
        at = arguments.index("--work")
        work = arguments[at + 1]
        del arguments[at:at + 2]
    if len(arguments) != 2:
        sys.exit(__doc__)
    rewright, folder = arguments
    for path in sorted(pathlib.Path(folder).rglob("*.clif")):
        for side, text in zip(("before", "after"), versions(path.read_text()) or ()):
            place = pathlib.Path(work, side, path.relative_to(folder))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    done = subprocess.run([rewright, "validate", f"{work}/before", f"{work}/after", "--format", "json", *more],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    report = json.loads(done.stdout)
    verdicts = collections.Counter()
    reasons, refuted = collections.Counter(), []
    for function in report["functions"]:
        name = "same" if function.get("tier") == "same" else function["verdict"]
        verdicts[name] += 1
        if name == "refuted":
            refuted.append(f"{function['file']} {function['function']}: on {function['shown']}: before, "
                           f"{function['before']}; after, {function['after']}")
        elif name not in ("same", "proved"):
            reason = function["reasons"][0] if function["reasons"] else "no reason"
            reasons[re.sub(r"\(0x.*?\)|on \(.*", "..", reason)] += 1
    total = sum(verdicts.values())
    changed = total - verdicts["same"]
    print(f"{total} functions, {changed} of them changed: "
          + ", ".join(f"{verdicts[name]} {name}" for name in ("proved", "refuted", "tested", "unknown")) + ".\n")
    print("| functions | why no more is known |\n| --- | --- |")
    for reason, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        print(f"| {n} | {reason} |")
    if refuted:
        print("\n" + "\n".join(refuted))
    sys.exit(1 if refuted else 0)


if __name__ == "__main__":
    main()
