#!/usr/bin/env bash
# A tokenizer of each kind is trained with the program, the same one again from the same texts; it gives texts back, and its ids lie in
# the order of the texts.
set -euo pipefail
attune=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for i in $(seq 1 60); do echo "{\"text\":\"The patient number $i was discharged with $((i * 7 % 40)) mg of furosemide, and café number $i.\"}"; done >texts.jsonl
for type in bpe wordpiece unigram; do
  "$attune" tokenizer train --type "$type" --vocab-size 400 --input texts.jsonl --output "$type" --quiet >/dev/null
  "$attune" tokenizer train --type "$type" --vocab-size 400 --input texts.jsonl --output again --quiet --threads 1 >/dev/null
  cmp "$type/tokenizer.json" again/tokenizer.json
  "$attune" tokenize "$type" --text "discharged with 7 mg" --json >one.json
  grep -q '"decoded":"discharged with 7 mg"' one.json
  grep -q '"offsets":\[\[' one.json
done

# Half a surrogate is no text, and damaged files are errors that name them.
if printf '%s\n' '{"text":"a\ud800"}' | "$attune" tokenize unigram --input - --json 2>error.txt; then exit 1; fi
printf 'not a model' >bad.model
if "$attune" tokenize bad.model --text a 2>error.txt; then exit 1; fi
grep -q 'bad.model' error.txt
