#!/usr/bin/env bash
# Reads random texts with each reader (tests/tests/readers.rs), with other random numbers each time, until the time is over
# or a reader panics, does not end or takes too much memory. The text that was read then is printed, as small as it can
# be made.
#
# usage: scripts/fuzz.sh [MINUTES] [FIRST_SEED]
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-30} seed=${2:-$(date +%s)}
cargo test --release --quiet --package rewright-tests --test integration --no-run
end=$((SECONDS + 60 * minutes)) rounds=0
while [ "$SECONDS" -lt "$end" ]; do
    echo "fuzz: seed $seed" >&2
    if ! PROPTEST_RNG_SEED=$seed REWRIGHT_FUZZ=10 cargo test --release --quiet --package rewright-tests --test integration readers::; then
        echo "fuzz: failed with seed $seed: PROPTEST_RNG_SEED=$seed REWRIGHT_FUZZ=10 shows it again" >&2
        exit 1
    fi
    seed=$((seed + 1)) rounds=$((rounds + 1))
done
echo "fuzz: $rounds rounds, nothing found" >&2
