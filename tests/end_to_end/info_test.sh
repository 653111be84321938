#!/usr/bin/env bash
# attune info says how long an input may be, and of positions without a bound the length that the config names.
set -euo pipefail
attune=$1
models=$(cd "$(dirname "$0")/../golden/models" && pwd)
"$attune" info "$models/bert_masked_lm" | grep -qx 'longest input    19 tokens'
"$attune" info "$models/llama_tied_biased" |
  grep -qx 'longest input    no bound but memory; made for 17 tokens (max_position_embeddings)'
