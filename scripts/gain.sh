#!/usr/bin/env bash
# What rules do to C programs that exist: zlib, lz4 and lua built with plain clang and with `rewright wrap`; sizes of the
# machine code of all objects, and processor time of benchmarks, run in turn. Not part of CI: it wants the network
# (sources come from `scripts/projects.sh`), a quiet machine, and minutes.
#
#   scripts/gain.sh [NAME=OPTIONS...]      (rules="--rules std"), say latency="--rules std --profile latency"
#
# WORK      where sources are                        (target/projects)
# GAIN      where builds and measurements go         ($WORK/gain)
# REWRIGHT  the program                              (target/release/rewright)
# RUNS      of each benchmark                        (15; 0: sizes only)
# PROJECTS  of "zlib lz4 lua", and others of projects.sh, of which only the size is measured   (zlib lz4 lua)
#
# Ratios are to plain clang: below 1 is better. Of times, the median of the ratios of neighbouring runs, and quartiles.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
work=${WORK:-$top/target/projects}
gain=${GAIN:-$work/gain}
rewright=${REWRIGHT:-$top/target/release/rewright}
runs=${RUNS:-15}
projects=${PROJECTS:-zlib lz4 lua}
[ $# -gt 0 ] || set -- rules="--rules std"

# A benchmark runs in the build of its project, reads $data, and writes nothing. It takes half a second or more: processor
# time is counted in hundredths.
benchmarks_zlib="deflate inflate"
deflate() { ./minigzip -6 -c <"$data"; }
inflate() { for _ in {1..12}; do ./minigzip -d -c <"$data.gz"; done; }
benchmarks_lz4="lz4_1 lz4_9 lz4_d"
lz4_1() { for _ in {1..12}; do programs/lz4 -1 -c "$data"; done; }
lz4_9() { programs/lz4 -9 -c "$data"; }
lz4_d() { for _ in {1..20}; do programs/lz4 -d -c "$data.lz4"; done; }
benchmarks_lua="lua_fib lua_life lua_sort lua_text"
lua_fib() { src/lua more/lua5.1/test/fib.lua 34; }
lua_life() { for _ in {1..3}; do src/lua more/lua5.1/test/life.lua; done; }
lua_sort() { src/lua -e 'local t = {} for i = 1, 2000000 do t[i] = i * 7919 % 10000019 end table.sort(t) print(t[1], t[#t])'; }
lua_text() {
    src/lua -e 'local t = {} for i = 1, 1200000 do t[i] = string.format("%d:%s", i, ("x"):rep(i % 7)) end
        print(#table.concat(t):gsub("x+", "y"))'
}

# Builds a project in $gain/NAME/PROJECT.
build() {
    local name=$1 project=$2 options=$3 folder=$gain/$1
    mkdir -p "$folder" && rm -rf "${folder:?}/build" "${folder:?}/$project"
    cp -a "$work/sources/$project" "$folder/build"
    local command=(env WORK="$folder" JOBS=1 CC=clang-19 scripts/projects.sh --build "$project" "$folder/configure")
    # shellcheck disable=SC2086
    [ "$name" = plain ] || command=(env -u CC REWRIGHT_CACHE="$folder/cache" "$rewright" wrap $options --
        env WORK="$folder" JOBS=1 scripts/projects.sh --build "$project" "$folder/configure")
    "${command[@]}" >"$folder/$project.log" 2>&1 || { echo "gain: $name: $project: no build, see $folder/$project.log" >&2 && exit 1; }
    mv "$folder/build" "$folder/$project"
}

text() { find "$gain/$1/$2" -name '*.o' -print0 | sort -z | xargs -0 llvm-size-19 | awk 'NR > 1 { s += $1 } END { print s }'; }

# Of one number per line: the quartiles.
quartiles() { sort -g | awk '{ x[NR] = $1 } END { printf "%.4f (%.4f..%.4f)", x[int((NR + 1) / 2)], x[int((NR + 3) / 4)], x[int((3 * NR + 3) / 4)] }'; }
mean() { awk '{ s += log($1) } END { printf "%.4f\n", exp(s / NR) }'; }

[ -x "$rewright" ] || { echo "gain: no $rewright: cargo build --release" >&2 && exit 2; }
for project in $projects; do
    [ -d "$work/sources/$project" ] || VARIANTS="" WORK=$work scripts/projects.sh "$project" >/dev/null || true
    build plain "$project" ""
    for variant in "$@"; do build "${variant%%=*}" "$project" "${variant#*=}"; done
done
for variant in "$@"; do
    name=${variant%%=*}
    for project in $projects; do
        ratio=$(awk -v a="$(text "$name" "$project")" -v b="$(text plain "$project")" 'BEGIN { printf "%.4f", a / b }')
        printf '%-10s size  %-10s %s\n' "$name" "$project" "$ratio"
    done | tee "$gain/$name.sizes"
    printf '%-10s size  %-10s %s\n' "$name" "geo. mean" "$(awk '{ print $4 }' "$gain/$name.sizes" | mean)"
done
[ "$runs" -gt 0 ] || exit 0

# Text as it comes: the sources themselves.
data=$gain/data
[ -s "$data" ] || find "$work/sources" -name '*.[ch]' -type f -print0 | sort -z | xargs -0 cat | head -c 12000000 >"$data" || true
case " $projects " in *" zlib "*) "$gain/plain/zlib/minigzip" -6 -c <"$data" >"$data.gz" ;; esac
case " $projects " in *" lz4 "*) "$gain/plain/lz4/programs/lz4" -9 -c "$data" >"$data.lz4" 2>/dev/null ;; esac
TIMEFORMAT='%U'
seconds() { (cd "$gain/$1/$2" && { time "$3" >/dev/null 2>&1; } 2>&1); }
for project in $projects; do
    benchmarks=benchmarks_$project
    for benchmark in ${!benchmarks:-}; do
        for variant in "$@"; do : >"$gain/${variant%%=*}.$benchmark"; done
        for _ in $(seq "$runs"); do
            for variant in "$@"; do
                name=${variant%%=*}
                plain=$(seconds plain "$project" "$benchmark")
                ruled=$(seconds "$name" "$project" "$benchmark")
                awk -v a="$ruled" -v b="$plain" 'BEGIN { print a / b }' >>"$gain/$name.$benchmark"
            done
        done
        for variant in "$@"; do
            name=${variant%%=*}
            printf '%-10s time  %-10s %s\n' "$name" "$benchmark" "$(quartiles <"$gain/$name.$benchmark")" | tee -a "$gain/$name.times.new"
        done
    done
done
for variant in "$@"; do
    name=${variant%%=*}
    mv "$gain/$name.times.new" "$gain/$name.times"
    printf '%-10s time  %-10s %s\n' "$name" "geo. mean" "$(awk '{ print $4 }' "$gain/$name.times" | mean)"
done
