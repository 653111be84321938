#!/bin/bash
# usage: interrupt_test.sh PROGRAM - Ctrl-C ends a command with status 130 and leaves nothing half-written.
set -euo pipefail
attune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; cat stderr.txt >&2; exit 1; }
for i in $(seq 60); do
  printf '{"text": "text %d about %s", "label": "l%d"}\n' "$i" "$(printf 'w%d ' $(seq "$i" $((i * 2))))" $((i % 2))
done > documents.jsonl

# Interrupted while it waits for the rest of its documents, it stops once it has them.
mkfifo pipe
"$attune" split --data - --output out --quiet < pipe > stdout.txt 2> stderr.txt &
split=$!
exec 3> pipe
cat documents.jsonl >&3
sleep 1
kill -INT $split
exec 3>&-
status=0
wait $split || status=$?
[ $status = 130 ] || fail "split: status $status, expected 130"
[ ! -e out ] || fail "split left $(ls -A out)"

# A run of very many epochs: interrupted while it counts their steps or in training.
"$attune" train --task classify --data documents.jsonl --output run --quiet --set model.architecture=bert --set model.hidden_size=8 \
  --set model.num_hidden_layers=1 --set model.num_attention_heads=2 --set model.intermediate_size=8 --set model.max_position_embeddings=64 \
  --set tokenizer.vocab_size=320 --set train.epochs=1e6 --set train.batch_tokens=500 > stdout.txt 2> stderr.txt &
train=$!
sleep 1
kill -INT $train
for _ in $(seq 300); do kill -0 $train 2> /dev/null || break; sleep 0.1; done
! kill -0 $train 2> /dev/null || { kill -KILL $train; fail "train went on for 30 s"; }
status=0
wait $train || status=$?
[ $status = 130 ] || fail "train: status $status, expected 130"
