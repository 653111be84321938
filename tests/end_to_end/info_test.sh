#!/usr/bin/env bash
# attune info says how long an input may be, and of positions without a bound the length that the config names.
set -euo pipefail
attune=$1
models=$(cd "$(dirname "$0")/../golden/models" && pwd)
"$attune" info "$models/bert_masked_lm" | grep -qx 'longest input    19 tokens'
"$attune" info "$models/llama_tied_biased" |
  grep -qx 'longest input    no bound but memory; made for 17 tokens (max_position_embeddings)'

# What is near a model, but none, is an error that names the model's directory.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p run/checkpoints run/model/parts begun
touch run/metrics.jsonl begun/metrics.jsonl notes.txt
cp "$models"/bert_masked_lm/*.{json,safetensors} run/model
# points PATH WORDS: status 1 and one line with the words.
points() {
  local status=0
  "$attune" info "$1" >out 2>error || status=$?
  [[ $status == 1 && $(wc -l <error) == 1 ]] && grep -qF "$2" error && return
  echo "attune info $1: status $status, expected 1 and \"$2\":"
  cat error
  exit 1
}
points run "run is no model directory, but holds one: give run/model"
points run/ "holds one: give run/model"
points run/model/model.safetensors "run/model/model.safetensors is a file of a model: give the model's directory, run/model"
points run/model/config.json "give the model's directory, run/model"
points run/model/parts "give the model's directory, $work/run/model"
points begun "begun is a training run that has no model yet"
points notes.txt "notes.txt is a file: a model is a directory with config.json, or a .gguf file"
points nowhere "nowhere: there is no such model directory"
(cd run/model && points model.safetensors "give the model's directory, .")
"$attune" info run/model >out

# Of a sentence-transformers directory: the bound that attune embed keeps to.
cp -R "$models/../sentence_embeddings/older_files" sentences
echo '{"max_seq_length": 24}' >sentences/sentence_bert_config.json
"$attune" info sentences >out
grep -q '^embeddings .*of texts up to 24 tokens$' out
grep -qx 'long inputs      refuse beyond 24 tokens' out
