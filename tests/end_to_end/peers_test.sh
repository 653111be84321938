#!/usr/bin/env bash
# The figures that docs/ quotes were measured against these very peers and on this very corpus: who changes a peer measures
# again, and writes the new sum (in bench/peers: sha256sum *.py requirements.txt > SHA256SUMS). The corpus has its own test.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../../bench/peers"
sha256sum --check --strict --quiet SHA256SUMS
ls -- *.py requirements.txt | sort | diff - <(awk '{ print $2 }' SHA256SUMS | sort)
