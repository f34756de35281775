#!/usr/bin/env python3
"""What `rewright validate` says of Alive2's tests of alive-tv, against what these expect.

    scripts/alive.py FOLDER [--rewright PROGRAM] [--json FILE] [ARGUMENT...]

FOLDER is `tests/alive-tv` of Alive2's sources, or a part of it; it is not part of this project. Further arguments go to
`rewright validate` (`--method refined`). Each case counts once:

* right: proved and expected correct, or refuted and expected to fail;
* WRONG: proved and expected to fail, or refuted and expected correct;
* unknown: the same two versions are neither proved nor refuted, and nothing agreed either;
* no claim: only runs agreed.

A case expects what Alive2's own driver reads: `; ERROR:` lines say that it must fail, otherwise it must hold.
Cases whose options give LLVM IR another meaning, that Alive2 itself does not support or is expected to get wrong, say
nothing of ours and are left out. Loops are unrolled there a few times: that a case holds is a bounded truth.

The exit code is 1 if any is WRONG.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

OTHER_MEANING = ["-disallow-ub-exploitation", "-tgt-is-asm", "-disable-undef-input", "-disable-poison-input"]
NO_VERDICT = ["Unsupported", "Couldn't prove", "doesn't reach a return", "guardable UB", "Signature mismatch"]


def expectation(text):
    """True: it must hold; False: it must fail; None: it says nothing of ours."""
    if re.search(r"; *XFAIL", text) or any(option in text for option in OTHER_MEANING):
        return None
    errors = re.findall(r"; *ERROR: *(.*)", text)
    if any(word in error for error in errors for word in NO_VERDICT):
        return None
    if re.search(r"; *CHECK: *(Unsupported|Error)", text):
        return None
    return not errors


DEFINE = re.compile(r"^define\b[^\n]*?@([\w.$-]+)\(.*?^}[^\n]*$", re.M | re.S)


def halves(text):
    """Pairs of modules from one that defines `src` and `tgt`, with any suffix."""
    functions = {m.group(1): m for m in DEFINE.finditer(text)}
    for name in functions:
        target = "tgt" + name[3:]
        if not name.startswith("src") or target not in functions:
            continue
        rest = {n: m for n, m in functions.items() if n in (name, target)}

        def module(keep, drop):
            out = text.replace(rest[drop].group(0), "")
            return re.sub(rf"@{re.escape(keep)}(?![\w.$-])", "@compared", out)

        yield module(name, target), module(target, name), "@compared"


def cases(folder):
    for path, _, files in sorted(os.walk(folder)):
        for name in sorted(files):
            full = os.path.join(path, name)
            shown = os.path.relpath(full, folder)
            if name.endswith(".srctgt.ll"):
                text = open(full, errors="replace").read()
                for n, (before, after, function) in enumerate(halves(text)):
                    yield (f"{shown}#{n}" if n else shown), before, after, function, expectation(text)
            elif name.endswith(".src.ll"):
                before, after = open(full, errors="replace").read(), open(full[:-7] + ".tgt.ll", errors="replace").read()
                yield shown, before, after, None, expectation(before + "\n" + after)
            elif name.endswith(".ident.ll"):
                text = open(full, errors="replace").read()
                yield shown, text, text, None, expectation(text)


def verdict(rewright, arguments, before, after, function):
    """The worst verdict of a pair of modules, and why."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("before.ll", "after.ll")]
        for path, text in zip(paths, (before, after)):
            with open(path, "w") as file:
                file.write(text)
        command = [rewright, "validate", paths[0], paths[1], "--format", "json", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "unknown", ["out of time"]
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return "unknown", [(done.stderr.strip().splitlines() or ["it says nothing"])[-1]]
    if done.returncode not in (0, 1):
        return "unknown", [done.stderr.strip()]
    found = [f for f in report["functions"] if function in (None, f["function"])]
    kinds = {f["verdict"] for f in found} or {"proved"}
    for kind in ("refuted", "unknown", "tested", "proved"):
        if kind in kinds:
            said = [r for f in found if f["verdict"] == kind for r in f["reasons"] or [f.get("after", "")]]
            return kind, said
    return "unknown", []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--rewright", default="target/release/rewright")
    parser.add_argument("--json", help="where to write what is said of each case")
    parser.add_argument("--jobs", type=int, default=1)
    options, arguments = parser.parse_known_args()
    if not os.path.isdir(options.folder):
        parser.error(f"{options.folder} is no folder: give it `tests/alive-tv` of Alive2's sources")
    todo = list(cases(options.folder))
    scored = [case for case in todo if case[4] is not None]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda c: verdict(options.rewright, arguments, *c[1:4]), scored))
    counts = {}
    rows = []
    for (name, _, _, _, holds), (kind, reasons) in zip(scored, done):
        if kind in ("proved", "refuted"):
            outcome = "right" if (kind == "proved") == holds else "WRONG"
        else:
            outcome = {"tested": "no claim", "unknown": "unknown"}[kind]
        key = ("correct" if holds else "incorrect", kind)
        counts[key] = counts.get(key, 0) + 1
        counts[outcome] = counts.get(outcome, 0) + 1
        rows.append({"case": name, "holds": holds, "verdict": kind, "outcome": outcome, "reasons": reasons})
        if outcome == "WRONG":
            print(f"WRONG {name}: {kind}, and it is {'correct' if holds else 'incorrect'} ({'; '.join(reasons)})")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    print(f"| Alive2 expects | proved | refuted | unknown | tested | all |\n| --- | --- | --- | --- | --- | --- |")
    for expected in ("correct", "incorrect"):
        cells = [counts.get((expected, kind), 0) for kind in ("proved", "refuted", "unknown", "tested")]
        print("|", " | ".join(map(str, [expected, *cells, sum(cells)])), "|")
    figures = ", ".join(f"{counts.get(o, 0)} {o}" for o in ("right", "WRONG", "unknown", "no claim"))
    print(f"\n{len(todo)} cases, {len(scored)} of them scored: {figures}.")
    sys.exit(bool(counts.get("WRONG")))


if __name__ == "__main__":
    main()
