#!/bin/bash
# usage: bad_input_test.sh PROGRAM - bad input gets one clear error line, exit status 1, and leaves nothing half-written.
set -euo pipefail
attune=$1
work=$(mktemp -d)
trap 'umount "$work/disk" 2> /dev/null || true; rm -rf "$work"' EXIT
cd "$work"
faults=0

# refuses WORDS COMMAND...: status 1, one line on stderr with the words, no directory "out".
refuses() {
  local words=$1 status=0
  shift
  "$attune" "$@" --quiet > stdout.txt 2> stderr.txt || status=$?
  if [ $status != 1 ] || [ "$(wc -l < stderr.txt)" != 1 ] || ! grep -q "^attune: error: .*$words" stderr.txt || [ -e out ]; then
    echo "FAILED: attune $* (status $status, expected 1 and one line with \"$words\"$([ -e out ] && echo ', and nothing written')):"
    cat stderr.txt
    faults=$((faults + 1))
    rm -rf out
  fi
}
# misused OPTION VALUE COMMAND...: a value that the option can not have: status 2, and the option is named.
misused() {
  local option=$1 value=$2 status=0
  shift 2
  "$attune" "$@" "$option" "$value" > stdout.txt 2> stderr.txt || status=$?
  if [ $status != 2 ] || [ "$(wc -l < stderr.txt)" != 1 ] || ! grep -q -e "$option" stderr.txt || [ -e out ]; then
    echo "FAILED: attune $* $option $value (status $status, expected 2 and \"$option\"):"
    cat stderr.txt
    faults=$((faults + 1))
  fi
}
# Whatever reads documents refuses them alike.
refuses_data() {
  refuses "$1" split --data "$2" --output out
  refuses "$1" workflow clinical --data "$2" --output out
  refuses "$1" train --task classify --data "$2" --set model.architecture=bert --output out
}
line() { printf '{"text": "%s", "label": "%s", "patient": "%s"}\n' "$1" "$2" "$3"; }

for command in generate chat; do
  while read -r option value; do misused "$option" "$value" $command model --text a; done <<'END'
--temperature -1
--temperature nan
--top-k -1
--top-p 0
--top-p 2
--min-p 1.5
--typical-p 0
--repetition-penalty 0
--presence-penalty inf
--no-repeat-ngram -1
--min-tokens -1
--max-tokens 0
END
done
misused --num-beams 1001 translate model --text a
misused --num-results 0 generate model --text a
misused --max-answer-tokens 0 answer model --text a
misused --top 0 embed model --text a --query b
misused --top 3 embed model --text a
for command in generate chat; do
  for option in "--top-k 5" "--top-p 0.9" "--min-p 0.1" "--typical-p 0.5" "--seed 7"; do
    misused ${option% *} ${option#* } $command model --text a --temperature 0
  done
  misused --min-tokens 9 $command model --text a --max-tokens 8
done
misused --min-tokens 9 translate model --text a --max-tokens 8
for option in "--temperature 1" "--top-k 5" "--seed 7"; do
  misused ${option% *} ${option#* } generate model --text a --num-beams 2
done
for command in generate translate; do
  misused --num-results 3 $command model --text a --num-beams 2
  misused --num-beam-groups 3 $command model --text a --num-beams 4
  misused --diversity-penalty 1 $command model --text a --num-beams 4 --num-beam-groups 1
done
misused --variables "{" chat model --text a
"$attune" info "" 2> stderr.txt && status=0 || status=$?
if [ $status != 2 ] || ! grep -q "MODEL" stderr.txt; then echo "FAILED: attune info '' (status $status)"; cat stderr.txt; faults=$((faults + 1)); fi
misused --variables "[1]" chat model --text a
misused --variables '{"messages": 1}' chat model
for command in answer chat classify embed generate tag tokenize translate; do misused --text-field body $command model --text a; done
misused --query "" embed model --text a
misused --question "" answer model --text a
misused --question-field asked answer model --input lines.jsonl --question who
misused --text a answer model
misused --prompt-name query embed model --text a --prompt "query: "
misused --query b embed model --text a --normalize
misused --tokenizer 13a evaluate model --data lines.jsonl
misused --label-field topic evaluate --metric bleu --predictions a.txt --references b.txt
misused --smoothing-value 1 evaluate --metric bleu --predictions a.txt --references b.txt --smoothing none
misused --lengths 512 bench attention
misused --case 8 bench attention --families all
misused --model model bench matmul
misused --output out example
misused --hold-out-fraction 0.2 split --data lines.jsonl --output out --group patient
misused --hold-out-fraction 1 split --data lines.jsonl --output out --hold-out source
misused --fractions 0.5,x,0.4 split --data lines.jsonl --output out
misused --label-field topic workflow clinical --output out
misused --min-frequency 3 tokenizer train --type unigram --input lines.jsonl --output out
misused --vocab-size 0 tokenizer train --input lines.jsonl --output out
misused --depths 2 probe needle model --input lines.jsonl
misused --documents 0 probe copy model --input lines.jsonl
misused --stop "" generate model --text a
misused --stop "" chat model --text a
misused --type Q8_1 convert model out.gguf
misused --type int8 convert model out.gguf
misused --type q8_0 convert model out

refuses_data "missing.jsonl" missing.jsonl
: > empty.jsonl
refuses_data "empty.jsonl" empty.jsonl
mkdir directory.jsonl
refuses "directory" split --data directory.jsonl --output out
if [ "$(id -u)" != 0 ]; then
  line a b c > locked.jsonl && chmod 0 locked.jsonl
  refuses_data "locked.jsonl" locked.jsonl
fi
{ line good a p; printf '{"text": "caf\xe9", "label": "a"}\n'; } > latin.jsonl
refuses_data "line 2.*UTF-8" latin.jsonl
{ line good a p; printf '{"text": "a\0b", "label": "a"}\n'; } > nul.jsonl
refuses_data "line 2.*NUL" nul.jsonl
{ printf '{"text": "'; head -c 80000000 /dev/zero | tr '\0' x; } > endless.jsonl
refuses_data "line 1" endless.jsonl
rm endless.jsonl
{ line good a p; echo '{"label": "a"}'; } > no_text.jsonl
refuses_data 'line 2.*"text"' no_text.jsonl
{ line good a p; echo '{"text": "b"}'; } > no_label.jsonl
refuses 'line 2.*"label"' workflow clinical --data no_label.jsonl --output out
refuses 'line 2.*"label"' train --task classify --data no_label.jsonl --set model.architecture=bert --output out
{ line good a p; echo '{"text": "b", "label": "a"'; } > cut.jsonl
refuses_data "line 2" cut.jsonl

for i in $(seq 40); do line "text $i about $((i * 977))" same "p$i"; done > one_class.jsonl
refuses 'label \\*"same' workflow clinical --data one_class.jsonl --output out
refuses 'label \\*"same' train --task classify --data one_class.jsonl --set model.architecture=bert --output out
for i in $(seq 40); do line "text $i about $((i * 977))" "l$((i % 2))" p; done > one_group.jsonl
refuses "spans 40 of 40" split --data one_group.jsonl --group patient --output out
refuses "spans 40 of 40" workflow clinical --data one_group.jsonl --group patient --output out
refuses 'did you mean \\*"patient' split --data one_group.jsonl --group patent --output out
for i in $(seq 40); do line "text $i about $((i * 977))" "l$i" "p$i"; done > all_classes.jsonl
refuses 'label "l1" has 1 document' workflow clinical --data all_classes.jsonl --output out
mkdir parts
for i in $(seq 20); do line "text $i about $((i * 977))" "l$((i % 2))" "p$i"; done > parts/train.jsonl
line "something else" unseen p > parts/validation.jsonl
refuses 'line 1.*"unseen" does not occur' train --task classify --data parts --set model.architecture=bert --output out

# Blank lines are passed over, and a warning says so.
printf 'one\n\ntwo\n\n' > blank.txt
"$attune" tokenizer train --input blank.txt --vocab-size 300 --output tokenizer > stdout.txt 2> stderr.txt
grep -q 'warning: blank.txt: 2 blank lines are passed over, the first is line 2' stderr.txt ||
  { echo "FAILED: blank lines are passed over in silence"; cat stderr.txt; faults=$((faults + 1)); }
"$attune" tokenizer train --input blank.txt --vocab-size 300 --output tokenizer --quiet > stdout.txt 2> stderr.txt
[ ! -s stderr.txt ] || { echo "FAILED: --quiet is not quiet"; cat stderr.txt; faults=$((faults + 1)); }

# Numbers out of range: said before anything is read, and by the option's name.
bert="--task classify --data one_group.jsonl --set model.architecture=bert --output out"
refuses "model.architecture.*expected one of .*bert.*gpt2.*did you mean \\\\*\"gpt2" train --task classify --data one_group.jsonl \
  --set model.architecture=gpt3 --output out
for epochs in 1e300 1e12 0 -1 nan; do refuses "train.epochs" train $bert --set train.epochs=$epochs; done
refuses "train.max_steps" train $bert --set train.max_steps=4000000000000000000
refuses "long.longest is 64, but the model takes 32" train --task lm --data parts --set model.architecture=attune \
  --set model.max_position_embeddings=32 --set long.longest=64 --output out
for epochs in 2000000 0 -1 nan; do misused --epochs $epochs workflow clinical --data missing.jsonl --output out; done
misused --pretraining-epochs -1 workflow clinical --data missing.jsonl --output out
for target in 0 1.5 nan; do
  misused --target-error $target workflow clinical --data missing.jsonl --output out
  misused --target-error $target calibrate nowhere --data missing.jsonl
done

refuses "no such model" classify nowhere --text a
refuses "UTF-8" classify nowhere --text "$(printf 'caf\xe9')"
mkdir -p foreign && echo precious > foreign/file
refuses "no earlier run made it" workflow clinical --output foreign
[ "$(cat foreign/file)" = precious ] || { echo "FAILED: a foreign directory was changed"; faults=$((faults + 1)); }

refuses "byte 1 (0xff) is not UTF-8: give the text" classify nowhere --text "$(printf '\xff\xfe')"
refuses "it is empty: give a text" classify nowhere --text " "
refuses "no such model directory: check the path" info nowhere
refuses "No such file or directory: check the path" split --data nosuch.jsonl --output out
echo "text,label" > header.csv
refuses "a line of names and no record" split --data header.csv --output out
for option in label id; do
  refuses "no record has the field .*nix.*(--$option-field)" split --data all_classes.jsonl --$option-field nix --output out
done
refuses 'no .*"nix' split --data all_classes.jsonl --text-field nix --output out
{ echo '{"text": "a", "target": "b"}'; echo '{"text": "c", "target": " "}'; } > pairs.jsonl
refuses 'line 2: \\*"target\\*" is empty' train --task translate --data pairs.jsonl --set model.architecture=marian --output out
status=0
"$attune" split --data - --output out <&- > stdout.txt 2> stderr.txt || status=$?
{ [ $status = 1 ] && grep -q "standard input" stderr.txt && ! grep -q "/dev/stdin" stderr.txt; } || { cat stderr.txt; faults=$((faults + 1)); }

# A full and a read-only disk: on a small tmpfs, where one may be mounted.
mkdir disk
if mount -t tmpfs -o size=64k none disk 2> /dev/null; then
  for i in $(seq 400); do line "text $i about $((i * 977)) $(printf 'w%d ' $(seq "$i" $((i + 40))))" "l$((i % 2))" "p$i"; done > many.jsonl
  refuses "disk" split --data many.jsonl --output disk/out
  [ -z "$(ls -A disk)" ] || { echo "FAILED: left on the full disk: $(ls -A disk)"; faults=$((faults + 1)); }
  mount -o remount,ro disk
  refuses "disk/out" split --data many.jsonl --output disk/out
  refuses "disk/out" example clinical --output disk/out
  refuses "disk/out" workflow clinical --output disk/out
else
  echo "not tried: a full and a read-only disk (mounting a tmpfs needs root)"
fi
status=0
"$attune" example > /dev/full 2> stderr.txt || status=$?
[ $status = 1 ] || { echo "FAILED: results to a full device: status $status"; faults=$((faults + 1)); }

# Wrong usage is status 2, before anything is read.
misused() {
  local status=0
  "$attune" "$@" > stdout.txt 2> stderr.txt || status=$?
  [ $status = 2 ] && [ "$(wc -l < stderr.txt)" = 1 ] && grep -q '^attune: error: ' stderr.txt && return
  echo "FAILED: attune $* (status $status, expected 2 and one line)"
  faults=$((faults + 1))
}
# says WORDS COMMAND...: the same, and the line has the words.
says() {
  local words=$1
  shift
  misused "$@"
  grep -qF -e "$words" stderr.txt && return
  echo "FAILED: attune $*: no \"$words\" in:"
  cat stderr.txt
  faults=$((faults + 1))
}
misused nosuch
misused info
misused info nosuch --nosuch
misused info nosuch --seed -1
misused info nosuch --seed 99999999999999999999
misused info nosuch --threads 9999
misused demo nosuch
misused split --data all_classes.jsonl --output out --fractions 0.5,0.4
misused split --data all_classes.jsonl --output out --group patient --fractions 0.5,0.4,0.4
misused split --data all_classes.jsonl --output out --group patient --hold-out patient
misused bench attention --families nosuch
misused bench attention --fit
misused bench matmul --export out
misused evaluate --metric diversity --predictions a.txt --references b.txt
misused evaluate --metric bleu --predictions a.txt
misused evaluate --metric wer --predictions a.txt --references b.txt --references c.txt
misused example clinicl --output out
misused example clinical  # no --output
misused tokenizer train --type bpe --keep-case --input lines.jsonl --output out
misused bench nosuch
for bench in matmul attention train decode generate; do misused bench $bench --case nosuch; done
misused train --set nothing
says "expected key=value" train --task lm --set =3
says "not in {classify,mlm,lm,translate,tag,answer}" train --task foo
says "nothing says what to train" train --output out
says "nothing names the data" train --task lm --output out
says "nothing names a model" train --task lm --data parts --output out
says "no option --promt, did you mean --prompt?" generate x --promt x
says "no option --promt, did you mean --prompt?" generate x --promt=x
says "no option --dat, did you mean --data?" split --dat parts
says "no option --vocab-sise, did you mean --vocab-size?" tokenizer train --vocab-sise 5
says "not expected: y" info x y
misused classify nosuch --long perhaps
misused generate nosuch --prompt a --cache int4
misused classify nosuch  # neither --text nor --input

[ $faults = 0 ] || { echo "$faults bad inputs were not refused as promised"; exit 1; }
echo "bad input: all refused with one line, nothing left behind"
