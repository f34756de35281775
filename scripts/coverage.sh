#!/usr/bin/env bash
# How much of Cranelift's own rules the standard packs cover. Fails where fewer rules are covered than
# stdlib_rules/COVERAGE.md says; BLESS=1 writes that page anew.
set -euo pipefail
cd "$(dirname "$0")/.."
page=stdlib_rules/COVERAGE.md

manifest=$(cargo metadata --format-version 1 |
  grep -o '"manifest_path":"[^"]*/cranelift-codegen-[0-9][^"/]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4)
[ -n "$manifest" ] || { echo "the sources of the crate cranelift-codegen are not there" >&2; exit 2; }
crate=$(dirname "$manifest")

# Exit code 1 says that some rule is dearer, which the page says, too.
found=$(${REWRIGHT:-cargo run --quiet --bin rewright --} coverage "$crate/src/opts" --losses) || [ $? -eq 1 ]
covered() { awk '$1 == "all" || $2 == "all" { gsub(/\|/, " "); print $3; exit }'; }
now=$(covered <<<"$found")

if [ "${BLESS:-}" = 1 ]; then
  {
    cat <<'PAGE'
# Cranelift's rules, and ours

`BLESS=1 scripts/coverage.sh` makes this page; `scripts/coverage.sh` fails where fewer rules are covered.

`rewright coverage` makes instances of the left side of each ISLE rule, random in types and constants, keeps those
that Cranelift's own pass makes cheaper, and optimises them with the standard packs. A rule is

* **covered** if no instance costs more than what Cranelift makes of it, under the packs' costs;
* **dearer** if one does: its line is named below;
* of **no gain** if Cranelift makes no instance cheaper under these costs (it changes a form that costs the same);
* a **helper** if it defines a term of other rules, or its left side is none of instructions.

PAGE
    echo "Of $(basename "$crate"):"
    echo
    awk 'NR == 1 { print "| file | rules | covered | dearer | no gain | helper |\n|---|---|---|---|---|---|"; next }
         { print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " |" }
         $1 == "all" { exit }' <<<"$found"
    echo
    echo "Dearer:"
    echo
    awk -F : '/^[a-z_]+\.isle:[0-9]+$/ { lines[$1] = lines[$1] (lines[$1] ? ", " : "") $2; if (!seen[$1]++) order[++n] = $1 }
         END { for (i = 1; i <= n; i++) print "* `" order[i] "`: " lines[order[i]] }' <<<"$found"
  } >"$page"
  exit 0
fi

said=$(covered <"$page")
[ "$now" -ge "$said" ] || { echo "$now rules are covered, $page says $said" >&2; exit 1; }
echo "$now of Cranelift's rules are covered"
