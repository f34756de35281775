#!/usr/bin/env bash
# Tests the stores that machines share over a network, against servers on this machine: `redis-server`, and `moto_server` in
# the place of S3. A server that is not installed is reported and left out. In a folder of its own, since features of
# shared dependencies differ.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --manifest-path driver/store/Cargo.toml --features remote --target-dir target/store -- --nocapture
