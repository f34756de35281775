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
now=$(awk '$1 == "all" { print $3; exit }' <<<"$found")

# Dearer rules by file and line, each with what coverage.reasons says of it.
explained=$(awk '
  NR == FNR { if ($1 ~ /^#/) next
              split($1, at, ":"); n = split(at[2], lines, ","); kind = $2; $1 = $2 = ""; sub(/^ +/, "")
              for (i = 1; i <= n; i++) { why[at[1] ":" lines[i]] = $0; what[at[1] ":" lines[i]] = kind }
              next }
  /^[a-z_]+\.isle:[0-9]+$/ { print $1, ($1 in why) ? what[$1] " " why[$1] : "MISSING" }
' stdlib_rules/coverage.reasons - <<<"$found")
if grep MISSING <<<"$explained" >&2; then
  echo "stdlib_rules/coverage.reasons does not say why these are dearer" >&2
  exit 1
fi

if [ "${BLESS:-}" = 1 ]; then
  {
    cat <<'PAGE'
# Cranelift's rules, and ours

`BLESS=1 scripts/coverage.sh` makes this page; `scripts/coverage.sh` fails where fewer rules are covered, and where one
that is not has no reason in `coverage.reasons`.

`rewright coverage` makes instances of the left side of each ISLE rule, random in types and constants, keeps those
that Cranelift's own pass makes cheaper, and optimises them with the standard packs. A rule is

* a **helper** if it defines a term of other rules, or its left side does not consist of instructions: no rule to have;
* **expressible** if the packs can state it, at all the types that its instances have;
* **covered** if no instance costs more than what Cranelift makes of it, under the packs' costs. The rules that cover it are
  proved: `rewright verify stdlib_rules` proves each rule of the packs at each of its types (`verify.expected`);
* of **no gain** if Cranelift makes no instance cheaper under these costs (it changes a form that costs the same);
* **dearer** if one instance is: its reason is below.

PAGE
    echo "Of $(basename "$crate"):"
    echo
    awk '
      BEGIN { print "| file | rules | helper | expressible | covered | no gain | dearer |\n|---|---|---|---|---|---|---|" }
      NR == FNR { if ($2 == "inexpressible") { split($1, at, ":"); no[at[1]]++; no["all"]++ }
                  next }
      FNR == 1 { next }
      { print "| " $1 " | " $2 " | " $6 " | " $2 - $6 - no[$1] " | " $3 " | " $5 " | " $4 " |" }
      $1 == "all" { exit }
    ' <(echo "$explained") - <<<"$found"
    echo
    echo "Dearer:"
    echo
    awk '
      { split($1, at, ":"); kind = $2; $1 = $2 = ""; sub(/^ +/, ""); key = at[1] "\t" kind "\t" $0
        if (!(key in lines)) order[++n] = key
        lines[key] = lines[key] (lines[key] ? ", " : "") at[2] }
      END { for (i = 1; i <= n; i++) { split(order[i], part, "\t")
              print "* `" part[1] "` " lines[order[i]] " (" part[2] "): " part[3] "." } }
    ' <<<"$explained"
  } >"$page"
  exit 0
fi

said=$(awk -F '|' '$2 ~ /^ all / { print $6 + 0; exit }' "$page")
[ "$now" -ge "$said" ] || { echo "$now rules are covered, $page says $said" >&2; exit 1; }
echo "$now of Cranelift's rules are covered"
