#!/usr/bin/env bash
# A small language model with kNN attention is trained; texts are added to a memory of it, listed, scored, replaced and removed, and what
# is removed leaves nothing in the file.
set -euo pipefail
attune=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for i in $(seq 1 40); do echo "{\"id\":\"t$i\",\"text\":\"The cat number $i sat on the mat of cat number $((i * 7 % 40)), and it was content.\"}"; done >texts.jsonl
cat >run.toml <<'TOML'
task = "lm"
[data]
train = "texts.jsonl"
validation = "texts.jsonl"
[model]
architecture = "attune"
hidden_size = 32
num_hidden_layers = 2
num_attention_heads = 2
attention = {family = "knn", local = 8, neighbours = 4}
positions = {method = "none"}
[tokenizer]
vocab_size = 300
[long]
longest = 64
[train]
max_steps = 5
batch_tokens = 512
TOML
"$attune" train run.toml --output run --quiet >/dev/null

printf '%s\n' '{"id":"first","text":"A note about cats."}' '{"id":"second-secret","text":"Another, about mats."}' >notes.jsonl
"$attune" memory add run/model --memory notes.memory --input notes.jsonl | grep -q '^2 texts'
"$attune" memory list --memory notes.memory --json | grep -q '"id":"second-secret"'
"$attune" memory score run/model --memory notes.memory --text "The cat sat on the mat." --json >with.json
"$attune" memory score run/model --memory notes.memory --text "The cat sat on the mat." --json --threads 1 | cmp - with.json
read -r loss without < <(sed -E 's/.*"loss":([^,]*),"loss_without":([^}]*)}/\1 \2/' with.json)
[[ -n $without && $loss != "$without" ]]

# A text of a known id takes its place.
echo '{"id":"first","text":"Something else."}' >other.jsonl
"$attune" memory add run/model --memory notes.memory --input other.jsonl | grep -q '^2 texts'
if "$attune" memory score run/model --memory notes.memory --text "The cat sat on the mat." --json | cmp -s - with.json; then exit 1; fi

grep -q second-secret notes.memory
"$attune" memory remove --memory notes.memory --id second-secret | grep -q '^1 text,'
if grep -q second-secret notes.memory; then exit 1; fi
status=0
"$attune" memory remove --memory notes.memory --id second-secret 2>error || status=$?
[[ $status == 1 ]] && grep -q 'no text named second-secret' error
status=0
"$attune" memory list --memory notes.jsonl 2>error || status=$?
[[ $status == 1 ]] && grep -q 'notes.jsonl' error
