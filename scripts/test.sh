#!/usr/bin/env bash
# Sets up and passes every test: formatting, lints, unit, property and data tests, doc tests, docs, and the packs'
# own examples. About 25 minutes from nothing on 2 cores: CONTRIBUTING.md says of what.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
# Property tests try the same cases at every run; another number tries others.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"
echo "property tests: PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED" >&2
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
cargo nextest run --workspace
cargo test --workspace --doc --quiet
RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items --quiet
cargo run --quiet --bin rewright -- fmt --check stdlib_rules examples tests/packs
cargo run --quiet --bin rewright -- check stdlib_rules
# Every 60th rule; without `--slice` it is all of them: minutes, and seconds once the verdicts are in the cache.
cargo run --quiet --bin rewright -- verify stdlib_rules --slice 1/60 --no-cache
# Against stdlib_rules/COVERAGE.md.
scripts/coverage.sh
cargo run --quiet --bin rewright -- difftest tests/clif
cargo run --quiet --bin rewright -- fuzz --seed 2000000 --count 1500 --size 12
# Each checks its own packs: they are not meant for one program.
for story in examples/*/run.sh; do
    "$story"
done
