#!/usr/bin/env bash
# Looks for wrong code, and writes tests/llvm/TORTURE.md: programs that check themselves, or print a digest of all that they
# have computed, do the same by `rewright cc` as by plain clang, at several levels and with odd costs, by which rules are
# used where no user would use them. Not part of CI: it wants the network, and hours of CPU time for all of it.
#
#   scripts/torture.sh [gcc|csmith|llvm]...     (all)
#
#   gcc      the C torture tests of GCC 12 (in Debian's `gcc-12-source`), each with the options that it asks for
#   csmith   random programs (Debian's `csmith`); half of them with their checked arithmetic as macros, so that it is
#            within functions when rules run
#   llvm     functions of LLVM's own tests of its passes (Debian's source of LLVM 19), as if for x86-64: LLVM's verifier
#            accepts what becomes of them, and `rewright validate` refutes nothing
#
# RULES     packs, separated by spaces               (std std.libm std.libc: all that are exact)
# WAYS      levels, and seeds of random costs at -O2 (O2 odd1 odd2 O1 O3 Os; for llvm levels are one, O2)
# PROGRAMS  how many of csmith                       (200)
# SEED      of the first of these                    (1)
# FOLDERS   of LLVM's tests                          (those of passes over functions that do what rules do)
# METHODS   of `rewright validate`                   (interpreted,compiled,refined)
# WORK      where everything goes                    (target/torture)
# REWRIGHT  the program                              (target/release/rewright)
# JOBS      of a build                               (2)
#
# The table has the last run of each way. A program counts where clang compiles it and it ends, and, if it differs, where
# clang's own results at -O0 are those at the level of the way. The exit code is 1 if anything differs; what does, is said.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
work=$(realpath -m "${WORK:-target/torture}")
rewright=$(realpath -m "${REWRIGHT:-target/release/rewright}")
export WORK=$work
jobs=${JOBS:-2}
table=$top/tests/llvm/TORTURE.md
packs=()
for pack in ${RULES:-std std.libm std.libc}; do packs+=(--rules "$pack"); done

folders=${FOLDERS:-ConstraintElimination CorrelatedValuePropagation DeadStoreElimination EarlyCSE GVN InstCombine
    InstSimplify JumpThreading LICM Reassociate SCCP SimplifyCFG}

# C as GCC's tests are written, in any of its years; `std.libm` requires that no code reads `errno`.
dialect="-w -fno-math-errno -std=gnu17 -Wno-implicit-int -Wno-implicit-function-declaration -Wno-int-conversion
    -Wno-incompatible-function-pointer-types -Wno-return-type"

# The programs of a collection, one a line: NAME|OPTIONS|SOURCE...
list_gcc() {
    local tests=$work/gcc/gcc/testsuite
    if [ ! -d "$tests" ]; then
        fetch gcc-12-source download
        dpkg-deb --fsys-tarfile "$work"/packages/gcc-12-source_*.deb | tar -xO ./usr/src/gcc-12/gcc-12.2.0-dfsg.tar.xz |
            unpack gcc '*/gcc/testsuite/gcc.c-torture/execute/*' '*/gcc/testsuite/gcc.dg/torture/*'
    fi
    python3 - "$tests" <<'END_OF_LIST'
import functools, glob, os, re, subprocess, sys
@functools.cache
def known(option):
    "Does clang know it? Most are about passes of GCC."
    return not option.startswith(("-O", "-W", "-flto", "-S", "-E", "-c", "--param")) and not subprocess.run(
        ["clang-19", "-Werror", option, "-fsyntax-only", "-x", "c", "/dev/null"], capture_output=True).returncode
def options(text):
    directives = re.findall(r'dg-(?:additional-)?options[ {]*"([^"]*)"', text)
    return [o for words in directives for o in words.split() if o.startswith("-") and known(o)]
def sources(folder):
    return sorted(glob.glob(f"{sys.argv[1]}/{folder}/*.c"))
programs = []
for path in sources("gcc.c-torture/execute") + sources("gcc.c-torture/execute/ieee") + sources("gcc.dg/torture"):
    text = open(path, errors="replace").read()
    if "/gcc.dg/" not in path or re.search(r"dg-do\s+run", text):
        more = re.findall(r'dg-additional-sources "?([\w.-]+\.c)', text)
        programs.append((path, text, [path] + [os.path.join(os.path.dirname(path), m) for m in more]))
# Each with a library that says which function may be called there.
for path in sources("gcc.c-torture/execute/builtins"):
    library = path.removesuffix(".c") + "-lib.c"
    if os.path.exists(library):
        programs.append((path, open(path).read(), [path, library, os.path.dirname(path) + "/lib/main.c"]))
for path, text, files in programs:
    name = path.split("/testsuite/gcc.")[1].split("/", 1)[1].removesuffix(".c").replace("/", ".")
    print(name, " ".join(options(text)), " ".join(files), sep="|")
END_OF_LIST
}

list_csmith() {
    local n sizes=("" "--max-funcs 4 --max-block-depth 3" "--float" "--no-arrays --max-funcs 6")
    mkdir -p "$work/csmith"
    for ((n = ${SEED:-1}; n < ${SEED:-1} + ${PROGRAMS:-200}; n++)); do
        # shellcheck disable=SC2086
        # It leaves a `platform.info` where it runs.
        [ -f "$work/csmith/$n.c" ] || (cd "$work/csmith" && csmith --seed $n ${sizes[n % 4]} --output "$n.c")
        echo "$n|-I/usr/include/csmith $((n / 4 % 2))|$work/csmith/$n.c" | sed 's/ 0|/|/; s/ 1|/ -DUSE_MATH_MACROS|/'
    done
}

# A package of Debian, or its source.
fetch() {
    local apt=$work/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$work/packages"
    [ -s "$apt/sources.list" ] || for kind in deb deb-src; do
        echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main"
    done >"$apt/sources.list"
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)")
    [ -n "$(ls "$apt/lists"/*Sources* 2>/dev/null)" ] || apt-get "${options[@]}" update
    (cd "$work/packages" && apt-get "${options[@]}" "${@:2}" "$1")
}

# Some files of an archive, into a folder.
unpack() {
    mkdir -p "$work/$1" && tar -xJ -C "$work/$1" --strip-components 1 --wildcards "${@:2}"
}

# Compiles and runs a program of a list with $CC at -$LEVEL; how it ended and what it said goes to $OUT.
program() {
    local name options sources source said="" objects=() scratch
    IFS='|' read -r name options sources <<<"$1"
    scratch=$(mktemp -d) && cd "$scratch"
    for source in $sources; do
        objects+=("${#objects[@]}.o")
        # shellcheck disable=SC2086
        $CC "-$LEVEL" $dialect $options -c "$source" -o "${objects[-1]}" 2>errors || said="not compiled"
    done
    [ -n "$said" ] || clang-19 "${objects[@]}" -lm -o program 2>errors || said="not linked"
    if [ -z "$said" ]; then
        # The shell is not to report here that one was killed.
        { (ulimit -t 5 -c 0 && exec setarch -R ./program) >output 2>&1 </dev/null && said=0 || said=$?; } 2>/dev/null
        said+=" $(cksum <output)"
    fi
    echo "$said" >"$OUT/$name"
    cd "$top" && rm -rf "$scratch"
}

# Costs of all operations of the packs, random by a seed.
odd_costs() {
    python3 - "$1" "$top"/stdlib_rules/std/{core,libm,libc}.rw <<'END_OF_COSTS'
import json, random, re, sys
random.seed(int(sys.argv[1]))
costs = {"profile": "llvm", "operations": {}}
for path in sys.argv[2:]:
    pack = "std." + path.split("/")[-1].removesuffix(".rw")
    for name in dict.fromkeys(re.findall(r"^fn (\w+)", open(path).read(), re.M)):
        costs["operations"][f"{pack}.{name}"] = random.choice([0, 0.25, 1, 3, 10, 40, 200])
costs["constant"] = random.choice([0, 1, 20])
print(json.dumps({"costs": costs}, indent=1))
END_OF_COSTS
}

level() { case $1 in odd*) echo O2 ;; *) echo "$1" ;; esac; }
costs() { case $1 in odd*) odd_costs "${1#odd}" ;; *) echo '{}' ;; esac; }

# All programs of a list.
each() { xargs -a "$1" -r -P "$jobs" -d '\n' -n 1 "$top/scripts/torture.sh" --program; }

# The programs of a list that plain clang compiles, and that end.
counting() {
    local name rest
    while IFS='|' read -r name rest; do
        case $(<"$1/said/$name") in
        not* | 137* | 152*) ;;
        *) echo "$name|$rest" ;;
        esac
    done
}

# A way of a collection of programs: what differs, and a row of the table.
compared() {
    local collection=$1 way=$2 level at=$work/results/$1 name rest
    local results=$at/$way list=$at/list
    level=$(level "$way")
    local plain=$at/plain-$level
    mkdir -p "$at" && "list_$collection" >"$list"
    # The list of random programs is not always the same.
    if ! cmp -s "$list" "$plain/list"; then
        rm -rf "$plain" && mkdir -p "$plain/said"
        CC=clang-19 LEVEL=$level OUT=$plain/said each "$list"
        cp "$list" "$plain/list"
    fi
    rm -rf "$results" && mkdir -p "$results/said" "$results/unoptimised"
    counting "$plain" <"$list" >"$results/list"
    costs "$way" >"$results/rewright.json"
    LEVEL=$level OUT=$results/said "$rewright" wrap "${packs[@]}" --config "$results/rewright.json" \
        --keep "$results/ir" --stats --format json -- "$top/scripts/torture.sh" --each "$results/list" 2>"$results/err"
    local programs=0
    while IFS='|' read -r name rest; do
        programs=$((programs + 1))
        ! cmp -s "$plain/said/$name" "$results/said/$name" || continue
        # A program that prints something else at another level, its addresses perhaps, shows nothing here.
        CC=clang-19 LEVEL=O0 OUT=$results/unoptimised program "$name|$rest"
        cmp -s "$plain/said/$name" "$results/unoptimised/$name" && echo "$name" || programs=$((programs - 1))
    done <"$results/list" >"$results/different"
    sed "s/^/$collection, $way: /" "$results/different" >&2
    tail -1 "$results/err" | python3 -c 'import json, sys
facts = json.load(sys.stdin)
names = ["functions", "optimised", "passed_through", "failed", "fell_back"]
print(json.dumps({"programs": int(sys.argv[1]), "different": int(sys.argv[2])} | {n: facts[n] for n in names}))
' "$programs" "$(wc -l <"$results/different")" >"$results/row.json"
}

# LLVM's tests, with the layout of x86-64; those that are not LLVM IR by themselves are left out.
tests_of_llvm() {
    local from=$work/llvm/llvm/test/Transforms to=$work/llvm-tests folder file layout
    if [ ! -d "$from" ]; then
        fetch llvm-toolchain-19 source --download-only
        unpack llvm '*/llvm/test/Transforms/*.ll' <"$(ls "$work"/packages/llvm-toolchain-19_*.orig.tar.xz)"
    fi
    layout=$(clang-19 -S -emit-llvm -o - -x c /dev/null | grep '^target')
    for folder in $folders; do
        [ ! -d "$to/$folder" ] || continue
        rm -rf "$to/part" && mkdir -p "$to/part"
        for file in "$from/$folder"/*.ll; do
            { echo "$layout" && grep -v '^target' "$file"; } |
                opt-19 -S -passes=verify -o "$to/part/$(basename "$file")" - 2>/dev/null || true
        done
        mv "$to/part" "$to/$folder"
    done
}

# What rules make of one of them, in $OUT.
rewritten() {
    local name=${1#"$work/llvm-tests/"} said=$OUT/said
    name=${name//\//.}
    # shellcheck disable=SC2086
    if ! "$REWRIGHT" opt "$1" $RULE_OPTIONS --config "$OUT/rewright.json" --extract greedy --stats --format json \
        -o "$said/$name" 2>"$said/$name.json"; then
        echo "$name: $(tail -1 "$said/$name.json")" >>"$OUT/different" && rm -f "$said/$name.json"
    elif ! opt-19 -passes=verify -disable-output "$said/$name" 2>"$said/$name.err"; then
        echo "$name: $(head -1 "$said/$name.err")" >>"$OUT/different"
    fi
    rm -f "$said/$name"
}

# A way of LLVM's tests.
refining() {
    local way=$1 results=$work/results/llvm/$1 folder
    tests_of_llvm
    rm -rf "$results" && mkdir -p "$results/said"
    costs "$way" >"$results/rewright.json"
    : >"$results/different"
    for folder in $folders; do ls "$work/llvm-tests/$folder"/*.ll; done >"$results/list"
    REWRIGHT=$rewright RULE_OPTIONS="${packs[*]}" OUT=$results \
        xargs -a "$results/list" -P "$jobs" -d '\n' -n 1 "$top/scripts/torture.sh" --rewrite
    # It takes the configuration that is nearest.
    (cd "$results" && xargs -a list -P "$jobs" -d '\n' -n 1 sh -c '
        part=$(mktemp -p . refuted.XXXXXX) && "$@" >"$part" 2>"$part.err" || [ $? = 1 ] || echo "$part.err" >>different
    ' sh "$rewright" validate "${packs[@]}" --method "${METHODS:-interpreted,compiled,refined}" --format json)
    python3 - "$results" <<'END_OF_ROW'
import collections, glob, json, sys
results, row = sys.argv[1], collections.Counter()
for path in glob.glob(f"{results}/said/*.json"):
    for function in json.load(open(path))["functions"]:
        row["functions"] += 1
        row[function["fate"].split(":")[0].replace(" ", "_")] += 1
refuted = []
for path in glob.glob(f"{results}/refuted.??????"):
    report = json.load(open(path))
    row["validated"] += sum(f["verdict"] != "unknown" for f in report["functions"])
    for f in report["functions"]:
        # A difference that no replay confirms is no refutation, but should be looked at.
        doubts = [reason for reason in f["reasons"] if reason.startswith("it may differ")]
        if f["verdict"] == "refuted":
            doubts = [f"on {f['shown']}: before, {f['before']}; after, {f['after']}"]
        refuted += [f"{f['function']}: {doubt}" for doubt in doubts[:1]]
open(f"{results}/different", "a").writelines(line + "\n" for line in sorted(refuted))
row["programs"] = len(open(f"{results}/list").readlines())
row["different"] = len(open(f"{results}/different").readlines())
json.dump(row, open(f"{results}/row.json", "w"))
END_OF_ROW
    sed "s/^/llvm, $way: /" "$results/different" >&2
}

case ${1:-} in
--program) program "$2"; exit ;;
--rewrite) rewritten "$2"; exit ;;
--each) each "$2"; exit ;;
esac
[ -x "$rewright" ] || { echo "torture: no $rewright: cargo build --release" >&2 && exit 2; }
different=0
for collection in ${*:-gcc csmith llvm}; do
    for way in ${WAYS:-O2 odd1 odd2 O1 O3 Os}; do
        case $collection/$way in
        gcc/* | csmith/*) compared "$collection" "$way" ;;
        llvm/O2 | llvm/odd*) refining "$way" ;;
        llvm/*) continue ;;
        *) echo "torture: no collection $collection: gcc csmith llvm" >&2 && exit 2 ;;
        esac
        [ ! -s "$work/results/$collection/$way/different" ] || different=1
    done
done

python3 - "$work/results" >"$table.part" <<'END_OF_TABLE'
import glob, json, os, sys
def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")
print("""# Programs that check themselves, and LLVM's own tests

Made by `scripts/torture.sh`, with `std`, `std.libm` and `std.libc`. *gcc*: the C torture tests of GCC 12. *csmith*: random
programs. A program counts where clang compiles it, it ends, and its results do not depend on clang's own level; *different*
are those that end in another way, or say something else, by `rewright cc`. *llvm*: files of LLVM 19's tests
of its passes; *different* are those that LLVM's verifier does not accept, and functions that `rewright validate` refutes, or of
which it says that they may differ.
*odd* ways are `-O2` with random costs of all operations, by this seed. Functions that are passed through are those that
the program says are out of scope; *failed*: functions and files in which a mistake of ours was noticed and the original
went out.
""")
row("collection", "way", "programs", "different", "functions", "changed", "passed through", "failed", "validated")
row(*["---"] * 9)
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*", "*", "row.json"))):
    facts, (collection, way) = json.load(open(path)), path.split("/")[-3:-1]
    count = [facts.get(k, 0) for k in ("programs", "different", "functions", "optimised", "passed_through")]
    failed = facts.get("failed", 0) + facts.get("fell_back", 0)
    row(collection, way, *count, failed, facts.get("validated", "-"))
END_OF_TABLE
mv "$table.part" "$table"
exit $different
