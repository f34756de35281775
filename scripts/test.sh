#!/usr/bin/env bash
# Sets up and passes every test: formatting, lints, unit, property and data tests, doc tests, docs, and the packs'
# own examples. About 21 minutes from nothing on 2 cores; each part says what it took.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --tests
source scripts/part.sh
# Property tests try the same cases at every run; another number tries others.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"
echo "property tests: PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED" >&2
part "format" cargo fmt --all --check
part "lints" cargo clippy --workspace --all-targets --quiet -- -D warnings
part "build of the tests" cargo nextest run --workspace --no-run
# The program as the tests have it: built alone, with other features of its dependencies, it would be built again.
REWRIGHT=$(debug_program Cargo.toml)
export REWRIGHT
rewright() { "$REWRIGHT" "$@"; }
part "tests" cargo nextest run --workspace
part "doc tests" cargo test --workspace --doc --quiet
RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" part "documentation" \
    cargo doc --workspace --no-deps --document-private-items --quiet
part "format of packs" rewright fmt --check stdlib_rules examples tests/packs
part "examples of packs" rewright check stdlib_rules
# Every 60th rule; without `--shard` it is all of them: minutes, and seconds once the verdicts are in the cache.
part "verification of packs" rewright verify stdlib_rules --shard 1/60 --no-cache
# Against stdlib_rules/COVERAGE.md.
part "coverage" scripts/coverage.sh
part "differential tests" rewright difftest tests/clif
part "random functions" rewright fuzz --seed 2000000 --count 1500 --size 12
# Of the debug build: a release build takes five minutes more.
part "archive and package" scripts/release.sh dev
# Each checks its own packs: they are not meant for one program.
for story in examples/*/run.sh; do
    part "$story" "$story"
done
echo "all parts passed in $SECONDS s" >&2
