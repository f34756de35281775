#!/usr/bin/env bash
# Builds C projects (Debian source packages) with plain clang and with `rewright cc`, runs their own tests on both, and
# prints what became of their functions, what the builds cost, and whether the tests say the same. Not part of CI: it
# wants the network, and minutes.
#
#   scripts/projects.sh [PROJECT...]        (all but the large ones by default; `scripts/projects.sh --list [all]`)
#
# RULES     packs, separated by spaces      (std std.libm std.libc: all that are exact)
# WORK      where sources and builds go     (target/projects)
# REWRIGHT  the program                     (target/release/rewright)
# JOBS      of each build                   (1)
# VARIANTS  of "plain cold warm ir identity" (plain cold warm): none only unpacks; warm is cold again with the cache that cold has filled; ir
#           is cold without a cache, and keeps LLVM IR before and after rules in $WORK/results/PROJECT/ir, for
#           `scripts/census.sh`; identity has no rules, and compares each object with that of plain
#
# Each build runs in the same folder, so that paths in objects are the same; results stay in $WORK/results. The last
# line of a project says `same` or `DIFFERENT`; the exit code is 1 if any is different.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
work=${WORK:-$top/target/projects}
rules=${RULES:-std std.libm std.libc}
rewright=${REWRIGHT:-$top/target/release/rewright}
jobs=${JOBS:-1}
variants=${VARIANTS-plain cold warm}

# A project is its package, how it is built with $CC in the current folder, and how its tests run there: `check` prints
# passed tests over all of them, or a digest of what they said.
usual="zlib bzip2 cjson jansson lz4 libpng lua"
large="zstd sqlite gsl suitesparse"

package_zlib=zlib
configure_zlib() { ./configure; }
build_zlib() { make -j"$jobs" libz.a example minigzip example64 minigzip64 shared; }
# Linked with libz.a, with the shared library, and with 64-bit offsets.
check_zlib() { make test | grep -c 'test OK' | sed 's/$/\/3/'; }

package_bzip2=bzip2
build_bzip2() { make -j"$jobs" CC="$CC" libbz2.a bzip2 bzip2recover; }
# Six comparisons of files; make stops at the first that differs.
check_bzip2() { make CC="$CC" test >log && grep -c '^cmp' log | sed 's/.*/&\/&/' || echo 0/6; }

package_cjson=cjson
configure_cjson() { with_cmake -DENABLE_CJSON_UTILS=On; }
build_cjson() { make -C build -j"$jobs"; }
check_cjson() { ctest_counts; }

package_jansson=jansson
configure_jansson() { with_cmake -DJANSSON_BUILD_DOCS=OFF; }
build_jansson() { make -C build -j"$jobs"; }
check_jansson() { ctest_counts; }

package_lz4=lz4
build_lz4() {
    make -C lib -j"$jobs" liblz4.a && make -C programs -j"$jobs" lz4 && make -C tests -j"$jobs" datagen \
        lz4.o lz4hc.o lz4frame.o xxhash.o fuzzer frametest roundTripTest decompress-partial
}
# The same random cases at every run, and files there and back.
check_lz4() {
    passed=0
    (cd tests && ./fuzzer -s1 -i400) >log 2>&1 && passed=$((passed + 1))
    (cd tests && ./frametest -s1 -i400) >>log 2>&1 && passed=$((passed + 1))
    (cd tests && ./decompress-partial) >>log 2>&1 && passed=$((passed + 1))
    tests/datagen -g4M >data
    for level in -1 -3 -9 -12 "-9 -BD" "--fast=5"; do
        # shellcheck disable=SC2086
        programs/lz4 $level -c data 2>>log | programs/lz4 -d -c 2>>log | cmp - data && passed=$((passed + 1))
        tests/roundTripTest data >>log 2>&1 && passed=$((passed + 1))
    done
    # Compressed files are the same, not only read back.
    echo "$passed/15 $(for level in 1 9 12; do programs/lz4 -$level -c data 2>/dev/null; done | cksum | cut -d' ' -f1)"
}

package_libpng=libpng1.6
configure_libpng() { ./configure --enable-shared=no; }
build_libpng() { make -j"$jobs" && make -j"$jobs" check TESTS=; }
check_libpng() { make check >log 2>&1; awk '/^# TOTAL:/ { t = $3 } /^# PASS:/ { p = $3 } END { print p "/" t }' log; }

package_lua=lua5.4
more_lua="lua5.1 lua-lpeg"
build_lua() {
    cd src
    for file in *.c; do "$CC" -O2 -Wall -DLUA_COMPAT_5_3 -DLUA_USE_LINUX -c "$file" || return; done
    "$CC" -o lua lapi.o lcode.o lctype.o ldebug.o ldo.o ldump.o lfunc.o lgc.o llex.o lmem.o lobject.o lopcodes.o \
        lparser.o lstate.o lstring.o ltable.o ltm.o lundump.o lvm.o lzio.o lauxlib.o lbaselib.o lcorolib.o ldblib.o \
        liolib.o lmathlib.o loadlib.o loslib.o lstrlib.o ltablib.o lutf8lib.o linit.o lua.o -Wl,-E -lm -ldl
    cd ../more/lua-lpeg
    for file in *.c; do "$CC" -O2 -fPIC -I../../src -c "$file" || return; done
    "$CC" -shared -o lpeg.so ./*.o
}
# Lua's own tests are in no package: the programs of 5.1's, with what they print, and the test of a C module.
check_lua() {
    local passed=0 all=0 sum=""
    for program in bisect cf factorial fib fibfor hello life sort; do
        all=$((all + 1))
        (cd more/lua5.1/test && timeout 60 ../../../src/lua $program.lua 12 </dev/null >out 2>&1) && passed=$((passed + 1))
        # It prints how long it took.
        [ $program != fib ] || sed -i 's/[0-9.]*e-[0-9]*\|0\.0[0-9]*//' more/lua5.1/test/out
        sum+=$(cksum <more/lua5.1/test/out)
    done
    all=$((all + 1))
    (cd more/lua-lpeg && ../../src/lua test.lua 2>&1) | grep -q '^OK' && passed=$((passed + 1))
    echo "$passed/$all $(cksum <<<"$sum" | cut -d' ' -f1)"
}

package_zstd=libzstd
zstd_tests="fuzzer zstreamtest datagen decodecorpus fullbench invalidDictionaries legacy poolTests"
# The folder of objects has a name of its own: by default it depends on the compiler's.
build_zstd() {
    # shellcheck disable=SC2086
    for goal in "lib libzstd.a" "programs zstd"; do make -C $goal -j"$jobs" BUILD_DIR=obj/same || return; done
    # shellcheck disable=SC2086
    make -C tests -j"$jobs" $zstd_tests
}
# The tests of `make -C tests test` with fewer random cases, without those that want long files.
check_zstd() {
    local passed=0 all=0
    run() { all=$((all + 1)) && "$@" >>"$OLDPWD/log" 2>&1 && passed=$((passed + 1)); }
    cd tests || return
    run ./fuzzer -s1 -i200 --no-big-tests
    run ./zstreamtest -s1 -i100 --no-big-tests
    run ./zstreamtest --newapi -s1 -t1 -i50 --no-big-tests
    run ./decodecorpus -s1 -n100 -o. -p.
    run ./invalidDictionaries
    run ./legacy
    run ./poolTests
    run ./fullbench -i1 -B10000
    run ./cli-tests/run.py --zstd=../programs/zstd --datagen=./datagen
    cd ..
    tests/datagen -g4M >data
    for level in 1 3 9 19; do
        all=$((all + 1))
        programs/zstd -$level -c data 2>>log | programs/zstd -d -c 2>>log | cmp - data && passed=$((passed + 1))
    done
    # Compressed files are the same, not only read back.
    echo "$passed/$all $(for level in 1 9 19; do programs/zstd -$level -c data 2>/dev/null; done | cksum | cut -d' ' -f1)"
}

package_sqlite=sqlite3
configure_sqlite() { ./configure --disable-shared --with-tcl="$(dirname "$(find /usr/lib -name tclConfig.sh | head -1)")" --disable-readline; }
# `make testfixture` and `make sqlite3` give the compiler all files at once; here each is a command of its own.
build_sqlite() {
    make -j"$jobs" sqlite3.c shell.c && make -f - -j"$jobs" fixture/testfixture sqlite3 <<'END'
include Makefile
objects = $(addprefix fixture/,$(notdir $(TESTFIXTURE_SRC:.c=.o)))
vpath %.c $(sort $(dir $(TESTFIXTURE_SRC)))
$(objects): fixture/%.o: %.c; @mkdir -p fixture; $(TCC) -DSQLITE_NO_SYNC=1 $(TEMP_STORE) $(TESTFIXTURE_FLAGS) -c $< -o $@
fixture/testfixture: $(objects); $(TCC) -o $@ $^ $(LIBTCL) $(TLIBS)
shell/%.o: %.c; @mkdir -p shell; $(TCC) $(READLINE_FLAGS) $(SHELL_OPT) -c $< -o $@
sqlite3: shell/shell.o shell/sqlite3.o; $(TCC) -o $@ shell/shell.o shell/sqlite3.o $(TLIBS)
END
}
# With the tests of the shell, which is there. It does not run for a user that may open any file.
check_sqlite() {
    local as=()
    [ "$(id -u)" != 0 ] || as=(setpriv --inh-caps=-all --bounding-set=-all)
    timeout 3600 "${as[@]}" fixture/testfixture test/veryquick.test >log 2>&1
    grep -o '^[0-9]* errors out of [0-9]* tests' log | sed 's/ errors out of / of /; s/ tests//'
}

package_gsl=gsl
gsl_folders="sys err complex vector matrix blas linalg poly specfunc roots integration statistics sort fft"
# Debian's sources have no manual.
configure_gsl() { ./configure --disable-shared && sed -i '/^SUBDIRS/s/ doc$//' Makefile; }
build_gsl() {
    make -j"$jobs" || return
    for folder in $gsl_folders; do make -C "$folder" -j"$jobs" check TESTS= || return; done
}
check_gsl() {
    local passed=0 all=0
    for folder in $gsl_folders; do
        all=$((all + 1))
        make -C "$folder" check >>log 2>&1 && passed=$((passed + 1))
    done
    echo "$passed/$all"
}

package_suitesparse=suitesparse
suitesparse_parts="AMD BTF CAMD CCOLAMD COLAMD CXSparse KLU LDL RBio CHOLMOD UMFPACK SPQR"
# Its tests want Debian's `libopenblas-dev`, a BLAS and a LAPACK. SPQR is C++, in which there are no rules.
build_suitesparse() {
    for folder in SuiteSparse_config ${suitesparse_parts// //Lib }/Lib; do
        make -C $folder -j"$jobs" CC="$CC" CXX=clang++-19 CF="-O2 -fPIC -fexceptions" CFOPENMP= \
            CHOLMOD_CONFIG=-DNPARTITION I_WITH_PARTITION="-I../../CAMD/Include -I../../CCOLAMD/Include" static || return
    done
}
# The demonstrations with what they are to print, where that is written down; of the others, what they print.
check_suitesparse() {
    local passed=0 all=0 sum="" options=("$CC" -O2 -ISuiteSparse_config) part out kind n matrix
    export OPENBLAS_NUM_THREADS=1
    for part in $suitesparse_parts; do options+=("-I$part/Include"); done
    demo() {
        rm -f demo
        # shellcheck disable=SC2046
        "${options[@]}" -o demo "$@" -Wl,--start-group $(find . -name 'lib*.a') -Wl,--end-group -lopenblas -lm -lstdc++ 2>>log
    }
    # What it prints on a file, except for times.
    on() {
        all=$((all + 1))
        ./demo <"$1" >said 2>>log && passed=$((passed + 1))
        sum+=$(sed -E '/flop|wallclock|cputime|Total time/Id; s/time:? *[0-9.]*//g' said | cksum)
    }
    for out in {AMD,CAMD,COLAMD,CCOLAMD}/Demo/*{demo,demo2,example,simple}.out {KLU/Demo/klu_,LDL/Demo/ldl}simple.out; do
        [ -f "${out%.out}.c" ] || continue
        all=$((all + 1))
        demo "${out%.out}.c" && ./demo </dev/null 2>>log | cmp - "$out" >>log 2>&1 && passed=$((passed + 1))
    done
    for kind in di dl ci cl; do
        for n in 1 2 3; do
            more=()
            [ $n = 1 ] || more=(CXSparse/Demo/cs_${kind}_demo.c)
            demo CXSparse/Demo/cs_${kind}_demo$n.c "${more[@]}"
            for matrix in CXSparse/Matrix/{t1,t2,ash219,bcsstk01,bcsstk16,fs_183_1,lp_afiro,mbeacxc,west0067,c4,c_mbeacxc,young1c}; do
                case $kind$(basename $matrix) in d?c[4_]* | d?t2 | d?y* | c?[abflmw]* | c?t1) continue ;; esac
                on $matrix
            done
        done
    done
    for kind in di dl zi zl; do demo UMFPACK/Demo/umfpack_${kind}_demo.c; on /dev/null; done
    for kind in "" l_; do
        demo CHOLMOD/Demo/cholmod_${kind}demo.c
        for matrix in bcsstk01.tri lp_afiro.tri can___24.mtx c.tri; do on CHOLMOD/Demo/Matrix/$matrix; done
    done
    demo CHOLMOD/Demo/cholmod_simple.c
    for matrix in c.tri can___24.mtx bcsstk01.tri; do on CHOLMOD/Demo/Matrix/$matrix; done
    demo SPQR/Demo/qrdemoc.c
    for matrix in a2 r2 a04 west0067 c2 a0 lfat5b bfwa62 LFAT5 b1_ss ash219 c32 young1c; do on SPQR/Matrix/$matrix.mtx; done
    echo "$passed/$all $(cksum <<<"$sum" | cut -d' ' -f1)"
}

with_cmake() { cmake -S . -B build -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=Release "$@"; }
ctest_counts() { cd build && ctest 2>&1 | sed -n 's/.*, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' | awk '{ print $2 - $1 "/" $2 }'; }

# The sources of a package, unpacked into a folder.
fetch() {
    local package=$1 to=$2 apt=$work/apt
    [ -d "$to" ] && return
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$work/packages"
    [ -s "$apt/sources.list" ] ||
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" >"$apt/sources.list"
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)")
    [ -n "$(ls "$apt/lists"/*Sources* 2>/dev/null)" ] || apt-get "${options[@]}" update
    (cd "$work/packages" && apt-get "${options[@]}" source --download-only "$package")
    mkdir -p "$(dirname "$to")"
    # Without Debian's patches, some of which replace how a project is built.
    dpkg-source --no-check --skip-patches -x "$(ls "$work/packages/${package}"_*.dsc | tail -1)" "$to" >/dev/null
}

# Builds and checks a project in one way, in the current folder.
variant() {
    local project=$1 kind=$2 results=$3
    rm -rf "$work/build" && cp -a "$work/sources/$project" "$work/build" && cd "$work/build"
    local command="$top/scripts/projects.sh --build $project $results/$kind.configure"
    TIMEFORMAT='%U %S'
    { time compile >"$results/$kind.log" 2>"$results/$kind.err" || return; } 2>"$results/$kind.time"
    find . -name '*.o' -print0 | sort -z | xargs -0 size 2>/dev/null | awk 'NR > 1 { s += $1 } END { print s + 0 }' >"$results/$kind.text"
    find . -name '*.o' -print0 | sort -z | xargs -0 cksum >"$results/$kind.objects"
    case $kind in plain | identity) mkdir "$results/$kind.o" && find . -name '*.o' -exec cp --parents -t "$results/$kind.o" {} + ;; esac
    case $kind in plain | cold | ir)
        (CC=clang-19 "check_$project" 2>"$results/$kind.check.err" || true) | tail -1 >"$results/$kind.tests"
        [ ! -f log ] || cp log "$results/$kind.check.log"
        ;;
    esac
}

# CPU time, of the server too, without that of `configure`.
seconds() { cat "$1.time" "$1.configure" 2>/dev/null | awk 'NR == 1 { s = $1 + $2 } NR == 2 { s -= $1 + $2 } END { if (NR) print s }'; }

# One build; uses what `variant` has set.
compile() {
    case $kind in
    plain) CC=clang-19 $command ;;
    *)
        local packs=()
        [ "$kind" != identity ] || { echo "pack none" >"$results/none.rw" && local rules="$results/none.rw"; }
        for pack in $rules; do packs+=(--rules "$pack"); done
        [ "$kind" != ir ] || packs+=(--keep "$results/ir")
        [ "$kind" != identity ] || packs+=(--no-cache)
        # shellcheck disable=SC2086
        REWRIGHT_CACHE=$results/cache "$rewright" wrap "${packs[@]}" --stats --format json -- $command || return
        tail -1 "$results/$kind.err" >"$results/$kind.json"
        ;;
    esac
}

fact() { [ -s "$1" ] && python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], "-"))' "$1" "$2" || echo -; }
# How many objects without rules are those of plain, byte for byte, and, where there are others, how many more are except
# for the numbers in names of private labels, which LLVM counts up in one run of the compiler: $1/identity.numbered
# names them, and $1/identity.different the rest.
identical() {
    [ -d "$1/identity.o" ] || { echo - && return; }
    local same=0 but=0 all=0 object digest
    : >"$1/identity.numbered"
    while read -r object; do
        all=$((all + 1))
        if cmp -s "$1/plain.o/$object" "$1/identity.o/$object"; then
            same=$((same + 1))
        elif digest=$(numbered "$1/plain.o/$object") && [ "$digest" = "$(numbered "$1/identity.o/$object")" ]; then
            but=$((but + 1))
            echo "${object#./}" >>"$1/identity.numbered"
        else
            echo "$object"
        fi
    done < <(cd "$1/plain.o" && find . -name '*.o' | sort) >"$1/identity.different"
    [ $but = 0 ] && echo "$same/$all" || echo "$same+$but/$all"
}

# A digest of an object whose private labels are named by where they are.
numbered() {
    local names copy
    names=$(mktemp) copy=$(mktemp)
    nm -n "$1" 2>/dev/null | awk '$3 ~ /^\.L/ { print $3, ".L." n++ }' >"$names"
    objcopy --redefine-syms="$names" "$1" "$copy" 2>/dev/null && cksum <"$copy" || local failed=1
    rm -f "$names" "$copy"
    [ -z "${failed:-}" ]
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0 && a != "") printf "%.2f", a / b; else print "-" }'; }

if [ "${1:-}" = --list ]; then
    [ "${2:-}" = all ] && echo "$usual $large" || echo "$usual (large: $large)"
    exit
elif [ "${1:-}" = --build ]; then
    cd "$work/build"
    TIMEFORMAT='%U %S'
    [ "$(type -t "configure_$2")" != function ] || { time "configure_$2" 2>&1 || exit; } 2>"$3"
    "build_$2"
    exit
fi
export WORK=$work JOBS=$jobs RULES=$rules
[ -x "$rewright" ] || { echo "projects: no $rewright: cargo build --release" >&2 && exit 2; }
different=0
row="%-11s %-20s %-20s %6s %6s %6s %6s %6s %5s %6s %6s %6s %9s  %s\n"
# shellcheck disable=SC2059
printf "$row" project "tests, plain" "tests, rules" funcs optim unch passed failed fell size cold warm identity result
for project in ${*:-$usual}; do
    package=package_$project more=more_$project
    [ -n "${!package:-}" ] || { echo "projects: no project $project: $usual $large" >&2 && exit 2; }
    fetch "${!package}" "$work/sources/$project"
    for other in ${!more:-}; do fetch "$other" "$work/sources/$project/more/$other"; done
    results=$work/results/$project
    mkdir -p "$results"
    for kind in $variants; do rm -rf "$results/$kind" "$results/$kind".*; done
    case " $variants " in *" cold "*) rm -rf "$results/cache" ;; esac
    broken=""
    for kind in $variants; do
        (variant "$project" "$kind" "$results") || broken+=" $kind"
    done
    [ -z "$variants" ] || cksum <"$rewright" >"$results/program"
    # Of the two that differ in their cache only, the one that has run.
    ruled=cold
    case " $variants " in *" cold "*) ;; *" ir "*) ruled=ir ;; esac
    read -r expected 2>/dev/null <"$results/plain.tests" || expected=-
    read -r got 2>/dev/null <"$results/$ruled.tests" || got=-
    result=same
    [ "$expected" != - ] && [ "$got" != - ] || result=untested
    [ -z "$broken" ] && [ "$expected" = "$got" ] && [ -n "$expected" ] || { result="DIFFERENT${broken:+: no build:$broken}" && different=1; }
    # The cache gives back what was put in.
    for kind in warm ir; do
        case " $variants " in *" $kind "*) ;; *) continue ;; esac
        cmp -s "$results/$ruled.objects" "$results/$kind.objects" || { result="DIFFERENT: objects, $kind" && different=1; }
    done
    stats=$results/$ruled.json
    # shellcheck disable=SC2059
    printf "$row" "$project" "$expected" "$got" "$(fact "$stats" functions)" "$(fact "$stats" optimised)" \
        "$(fact "$stats" unchanged)" "$(fact "$stats" passed_through)" "$(fact "$stats" failed)" "$(fact "$stats" fell_back)" \
        "$(ratio "$(cat "$results/$ruled.text" 2>/dev/null)" "$(cat "$results/plain.text" 2>/dev/null)")" \
        "$(ratio "$(seconds "$results/cold")" "$(seconds "$results/plain")")" \
        "$(ratio "$(seconds "$results/warm")" "$(seconds "$results/plain")")" "$(identical "$results" | tee "$results/identity.count")" "$result"
done
exit $different
