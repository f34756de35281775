#!/bin/sh
# Runs the recipe of docs/bazel.md. Wants Debian's Bazel (`apt install bazel-bootstrap`).
set -eu
cd "$(dirname "$0")/.."
command -v bazel >/dev/null || { echo "bazel.sh: no bazel: apt install bazel-bootstrap" >&2; exit 1; }
exec cargo test --workspace --test integration -- --ignored --exact book::the_recipe_of_bazel_is_true
