#!/bin/bash
# usage: classifier_test.sh PROGRAM - a classifier's whole life as its users type it: split, train, calibrate, classify, evaluate, and the
# main job; with a tiny model, in seconds.
set -euo pipefail
attune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
has() { grep -q -- "$2" "$1" || { cat "$1" >&2; fail "$1 has no \"$2\""; }; }

# 150 documents of three kinds, 50 patients; every fifteenth of no category.
awk 'BEGIN {
  srand(7); split("imaging billing medication", label, " ");
  word["imaging"] = "fracture radiograph shadow"; word["billing"] = "invoice payment balance"; word["medication"] = "tablet dose nightly";
  for (i = 0; i < 150; ++i) {
    l = label[i % 3 + 1]; text = "";
    for (w = 0; w < 20; ++w) text = text "note" int(rand() * 300) " " (w % 7 == 0 && i % 15 ? word[l] " " : "");
    printf "{\"id\": %d, \"text\": \"%s\", \"label\": %s, \"patient\": \"p%d\", \"source\": \"s%d\"}\n", i, text, i % 15 ? "\"" l "\"" : "null", i / 3, i / 3 % 4
  }
}' > documents.jsonl

"$attune" split --data documents.jsonl --group patient --fractions 0.6,0.2,0.2 --output split > split.txt
has split.txt "none found"
cat > run.toml <<'E2'
task = "classify"
[data]
train = "split"
[model]
architecture = "bert"
hidden_size = 16
num_hidden_layers = 1
num_attention_heads = 2
intermediate_size = 32
max_position_embeddings = 32
classifier_pooling = "mean"
[tokenizer]
vocab_size = 330
[train]
epochs = 6
batch_tokens = 512
learning_rate = 1e-2
E2
"$attune" train run.toml --output run --quiet > train.txt
"$attune" train --output run --resume > again.txt 2> log.txt  # the run's own config.toml
has log.txt "finished before"
cmp -s train.txt again.txt || fail "a finished run says something else when it is gone on with"
"$attune" classify run/model --text "radiograph of a fracture" --json > before.json
has before.json '"route":"review","reasons":\["not_calibrated"\]'
"$attune" calibrate run/model --data split/validation.jsonl --train split/train.jsonl --target-error 0.2 --quiet > calibrate.txt
has calibrate.txt "novelty: to review above"
"$attune" classify run/model --input split/test.jsonl --json --output all.jsonl --quiet
[ "$(wc -l < all.jsonl)" = "$(wc -l < split/test.jsonl)" ] || fail "an answer for each document"
has all.jsonl '"chunks":'
# The id stays a number, and an answer does not depend on the documents beside it.
tail -n 1 split/test.jsonl | "$attune" classify run/model --input - --json --quiet --threads 1 > alone.jsonl
[ "$(cat alone.jsonl)" = "$(tail -n 1 all.jsonl)" ] || fail "a document alone got another answer than among others"
grep -q '^{"id":[0-9]' alone.jsonl || fail "the id is no number any more"
# Numbers come back as they were written, and two documents of one id are told.
printf '{"id":%s,"text":"fracture"}\n' 1e5 1.10 12345678901234567890123 7 7 | "$attune" classify run/model --input - --json > ids.jsonl 2> ids.txt
[ "$(sed 's/^{"id":\([^,]*\),.*/\1/' ids.jsonl | tr '\n' ' ')" = "1e5 1.10 12345678901234567890123 7 7 " ] || fail "ids were changed"
has ids.txt 'lines 4 and 5 have the same id'
# What a line of ids holds that the model cannot read names the line.
forward_refuses() {
  printf '{"ids":[1]}\n\n%s\n' "$2" > ids.jsonl
  "$attune" forward run/model --input ids.jsonl --output ids.safetensors 2> ids.txt && fail "forward read $2"
  has ids.txt "line 3: .*$1"
}
forward_refuses "holds 9999 at place 2" '{"ids":[1,9999]}'
forward_refuses "decoder_ids" '{"ids":[1],"decoder_ids":[1]}'
forward_refuses "holds 33 tokens, and the model takes 32: shorten it" "{\"ids\":[$(seq -s, 33)]}"
"$attune" evaluate run/model --data split/test.jsonl --by source --output evaluation --quiet > evaluate.txt
has evaluate.txt "source: s1"
for file in evaluation.json predictions.jsonl report.html; do [ -s evaluation/$file ] || fail "no evaluation/$file"; done
"$attune" info run/model > info.txt
has info.txt "automatic part"

# Beyond the longest input: an error with both numbers, or chunks.
long=$(printf 'note%d ' $(seq 100))
if "$attune" classify run/model --text "$long" --long refuse 2> refused.txt; then fail "a text that is too long was read"; fi
has refused.txt "the model takes 32"
"$attune" classify run/model --text "$long" --long chunk --json | grep -q '"chunks":[2-9]' || fail "a long text is one chunk"

# The main job; a second run does nothing and says the same.
job() { "$attune" workflow clinical --data documents.jsonl --output job --epochs 2 --pretraining-epochs 0 --threads 2 "$@"; }
job > first.txt 2> log.txt
[ "$(tail -n 1 first.txt)" = job/report.html ] || fail "the last line is not the report's path"
has first.txt "linear model"
job > second.txt 2> log.txt
cmp -s first.txt second.txt || fail "the second run says something else"
has log.txt "train: unchanged"
"$attune" example clinical --output example > /dev/null
"$attune" example clinical --output other --seed 2 > /dev/null
! cmp -s example/documents.jsonl other/documents.jsonl || fail "another seed made the same corpus"
has example/run.toml 'architecture = "bert"'
echo "classifier: all as promised"
