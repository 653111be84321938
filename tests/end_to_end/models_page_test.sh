#!/usr/bin/env bash
# docs/models.md shows what the golden tests of published models give now, and none of them fails.
set -euo pipefail
build=$(cd "$(dirname "$1")" && pwd)
cd "$(dirname "$0")/../.."
tools/models_table --check "$build"
[[ $(grep -c '^| `' docs/models.md) -ge 48 ]]
if grep -q '\*\*no\*\* |' docs/models.md; then exit 1; fi
