#!/usr/bin/env bash
# What to run while you work: formatting, lints, unit tests and the packs' own examples. Under five minutes on 2 cores
# after a build; `scripts/test.sh` runs everything.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/part.sh
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"
part "format" cargo fmt --all --check
part "lints" cargo clippy --workspace --all-targets --quiet -- -D warnings
part "unit tests" cargo nextest run --workspace --lib --status-level fail
part "packs" cargo run --quiet --bin rewright -- check stdlib_rules
