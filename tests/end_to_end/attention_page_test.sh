#!/usr/bin/env bash
# docs/attention.md shows the examples as they are compiled, all ten of them, and the table that the golden tests give now.
set -euo pipefail
build=$(cd "$(dirname "$1")" && pwd)
cd "$(dirname "$0")/../.."
tools/attention_tables --check "$build"
shown=$(grep -c '^<!-- example: ' docs/attention.md)
written=$(grep -c '^Tensor [a-z_]*(.*{$' examples/attention/attention.cpp)
[[ $shown == 10 && $written == 11 ]] # random_rows is no example
