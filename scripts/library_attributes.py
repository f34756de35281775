#!/usr/bin/env python3
"""Writes driver/equiv/src/library.ll: what LLVM knows of functions of the C library.

Declarations of the system's headers without their attributes, with what LLVM's pass `inferattrs` writes on them and what
`instcombine` writes on the arguments of a call. Wants clang-19 and opt-19.
"""
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = ROOT / "driver/equiv/src/replay/library.txt"
OUT = ROOT / "driver/equiv/src/library.ll"
HEADERS = """ctype dirent fcntl grp math pwd signal stdio stdlib string strings sys/mman sys/stat sys/statvfs sys/time
sys/times sys/types sys/utsname time unistd utime""".split()
DECLARED = re.compile(r"declare (?P<result>.*?)@(?P<name>\w+)\((?P<parameters>.*)\)(?P<rest>[^)]*)$")


def declarations(work: pathlib.Path) -> list[str]:
    """What the headers declare, of the functions that LLVM knows."""
    names = [name for name in NAMES.read_text().split() if re.fullmatch(r"[a-z][a-z0-9_]*", name)]
    includes = "".join(f"#include <{header}.h>\n" for header in HEADERS)
    while True:
        source = work / "all.c"
        text = "".join(f"(void *)&{name},\n" for name in names)
        source.write_text(f"#define _GNU_SOURCE\n{includes}void *all[] = {{\n{text}}};\n")
        command = ["clang-19", "-fno-builtin", "-ferror-limit=0", "-w", "-S", "-emit-llvm", source, "-o", work / "all.ll"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return [line for line in (work / "all.ll").read_text().splitlines() if line.startswith(("declare ", "target "))]
        unknown = set(re.findall(r"error: .*identifier '(\w+)'", done.stderr))
        if not unknown:
            raise SystemExit(done.stderr)
        names = [name for name in names if name not in unknown]


def types(text: str) -> list[str]:
    """The types in a list of parameters, without attributes."""
    parts = [part.strip() for part in re.split(r",(?![^({<]*[)}>])", text) if part.strip()]
    return [part if part == "..." else re.match(r"ptr|i\d+|float|double|x86_fp80|fp128|\{.*\}|<.*>", part)[0] for part in parts]


def optimised(work: pathlib.Path, text: str, passes: str) -> str:
    before = work / "before.ll"
    before.write_text(text)
    return subprocess.run(["opt-19", f"-passes={passes}", "-S", before], capture_output=True, text=True, check=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        lines = declarations(work)
        target = [line for line in lines if line.startswith("target ")]
        functions = []
        for line in lines:
            found = DECLARED.match(re.sub(r" #\d+$", "", line))
            if not found or "byval" in line or "sret" in line:
                continue
            result = re.sub(r"\b(noundef|signext|zeroext|nonnull|noalias) ", "", found["result"]).strip()
            functions.append((result, found["name"], types(found["parameters"])))
        bare = [f"declare {result} @{name}({', '.join(of)})" for result, name, of in functions]
        inferred = optimised(work, "\n".join(target + bare) + "\n", "inferattrs")
        calls = []
        for result, name, of in functions:
            fixed = [ty for ty in of if ty != "..."]
            given = ", ".join(f"{ty} %{n}" for n, ty in enumerate(fixed))
            called = f"{result} ({', '.join(of)}) @{name}({given})" if "..." in of else f"{result} @{name}({given})"
            ends = f"%r = call {called}\n  ret {result} %r" if result != "void" else f"call {called}\n  ret void"
            calls.append(f"define {result} @call.{name}({given}) {{\n  {ends}\n}}")
        called = optimised(work, inferred + "\n" + "\n".join(calls) + "\n", "instcombine")
    said = {}
    for result, name, of in functions:
        call = re.search(rf"define [^\n]*@call\.{name}\(.*?\n}}", called, re.S)
        call = re.search(rf"call [^\n]*@{name}\((.*)\)", call[0]) if call else None
        for n, argument in enumerate(re.split(r", ", call[1]) if call else []):
            more = re.findall(r"nonnull|dereferenceable\(\d+\)", argument)
            if more and f"%{n}" in argument:
                said[name, n] = more
    out = ["; What LLVM 19 knows of functions of the C library: made by scripts/library_attributes.py."]
    for line in inferred.splitlines():
        found = DECLARED.match(line)
        if found:
            parameters = re.split(r", ", found["parameters"]) if found["parameters"] else []
            parameters = [" ".join([p, *said.get((found["name"], n), [])]) for n, p in enumerate(parameters)]
            made = f"declare {found['result']}@{found['name']}({', '.join(parameters)}){found['rest']}"
            if made not in bare:
                out.append(made)
        elif line.startswith("attributes "):
            out.append(line)
    OUT.write_text("\n".join(out) + "\n")


main()
