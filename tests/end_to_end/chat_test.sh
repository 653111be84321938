#!/usr/bin/env bash
# A small language model with a chat template is talked with: line by line, in files, from a GGUF file; what is trained from it keeps its template.
set -euo pipefail
attune=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for i in $(seq 1 40); do echo "{\"text\":\"The cat number $i sat on the mat of cat number $((i * 7 % 40)), and it was content.\"}"; done >texts.jsonl
cat >run.toml <<'TOML'
task = "lm"
[data]
train = "texts.jsonl"
[model]
architecture = "llama"
hidden_size = 32
intermediate_size = 64
num_hidden_layers = 2
num_attention_heads = 2
max_position_embeddings = 256
rms_norm_eps = 1e-5
[tokenizer]
vocab_size = 300
[long]
longest = 64
[train]
max_steps = 20
batch_tokens = 512
TOML
"$attune" train run.toml --output run --quiet >/dev/null
model=run/model

refused() { # refused STATUS PATTERN COMMAND...
  local status=0
  "${@:3}" >out 2>error </dev/null || status=$?
  [[ $status == "$1" ]] || { echo "exit $status, expected $1: ${*:3}"; cat out error; exit 1; }
  grep -q -- "$2" error || { echo "no \"$2\" in:"; cat error; exit 1; }
}

refused 1 'has no chat template.*attune generate' "$attune" chat $model --message "the cat"
cat >$model/chat_template.jinja <<'JINJA'
{%- for message in messages %}
{%- if message.role == 'tool' %}{{ raise_exception('no such role') }}{% endif %}
{{- message.role + ': ' + message.content + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}
JINJA
echo '{"eos_token_id": 0, "max_new_tokens": 12}' >$model/generation_config.json
sed -i 's/"longest": 64/"longest": 256/' $model/attune.json

# Two turns of a conversation are what the second turn's whole conversation gives in a file, sampled with a seed too.
for how in "--seed 0" "--temperature 1 --seed 3" "--cache int8 --top-k 5 --seed 4"; do
  printf 'the cat\n\nand the mat of cat number 7?\n' | "$attune" chat $model --system "cats" $how --quiet >turns
  "$attune" chat $model --system "cats" $how --text "the cat" --quiet >first
  "$attune" chat $model --system "cats" $how --message "the cat" --json --quiet >first.json
  grep -qE '^\{"id":"1","text":"([^"\\]|\\.)*","finish_reason":"(stop|length)","tokens":[0-9]+,"generated_tokens":([1-9]|1[0-2])\}$' first.json
  said=$(sed -E 's/.*"text":("([^"\\]|\\.)*").*/\1/' first.json)
  printf '{"id": 1e5, "messages": [{"role": "user", "content": "the cat"}, {"role": "assistant", "content": %s}, %s]}\n' "$said" \
    '{"role": "user", "content": "and the mat of cat number 7?"}' >whole.jsonl
  "$attune" chat $model --system "cats" $how --input whole.jsonl --quiet | cat first - | cmp - turns
  sed 's/"messages": \[/&{"role": "system", "content": "cats"}, /; s/1e5/"own"/' whole.jsonl | cat whole.jsonl - >both.jsonl
  "$attune" chat $model --system "not heard" $how --input both.jsonl --json --output answers.jsonl --quiet
  sed -n 1p answers.jsonl | grep -q '^{"id":1e5,'
  sed -n 2p answers.jsonl | grep -q '^{"id":"own",'
done
"$attune" chat $model --message "the cat" --temperature 1 --seed 1 --quiet >one
if "$attune" chat $model --message "the cat" --temperature 1 --seed 2 --quiet | cmp -s - one; then exit 1; fi

# Texts that --max-tokens ends are told: one by itself, of several how many.
"$attune" chat $model --message "the cat" --max-tokens 2 2>&1 >/dev/null | grep -q 'warning: the text ends after 2 tokens, unfinished: --max-tokens'
"$attune" generate $model --prompt "the cat" --max-tokens 2 2>&1 >/dev/null | grep -q 'warning: the text ends after 2 tokens, unfinished: --max-tokens'
printf '{"id":"a","text":"the cat"}\n{"id":"b","text":"the mat"}\n' >two.jsonl
"$attune" generate $model --input two.jsonl --max-tokens 2 2>&1 >/dev/null |
  grep -q 'warning: 2 of 2 texts end unfinished, the first is that of a after 2 tokens: --max-tokens'
"$attune" chat $model --input two.jsonl --text-field text --max-tokens 2 2>&1 >/dev/null | grep -q 'warning: 2 of 2 texts end unfinished'
"$attune" generate $model --input two.jsonl --max-tokens 2 --json 2>&1 >/dev/null | { ! grep unfinished; }

# Commands; a message of two lines.
"$attune" chat $model --message "the cat" --quiet | tee one >twice
cat one >>twice
printf 'the cat\n/reset\nthe cat\n/quit\nnever said\n' | "$attune" chat $model --quiet | cmp - twice
printf 'the cat\\\nsat\n' | "$attune" chat $model --quiet >two
printf '{"messages":"the cat\\nsat"}\n' | "$attune" chat $model --input - --quiet | cmp - two
refused 1 '/quti is no command' bash -c "echo /quti | '$attune' chat $model"

# What is wrong is said: with file and line, with both numbers.
long=$(printf 'the cat sat on the mat, %.0s' $(seq 1 60))
refused 1 'the conversation has [0-9]* tokens and the model takes 256' "$attune" chat $model --message "$long"
printf '{"messages":[{"role":"user","content":"a"}]}\n{"messages":[{"role":"tool","content":"a"}]}\n' >tool.jsonl
refused 1 'line 2: .*chat_template.jinja, line 2: no such role' "$attune" chat $model --input tool.jsonl
printf '{"messages":[]}\n' >empty.jsonl
refused 1 'line 1: "messages" must be a list' "$attune" chat $model --input empty.jsonl
printf '{"messages": 5}\n{"messages":"the cat"}\n' >bad.jsonl
refused 1 'bad.jsonl, line 1' "$attune" chat $model --input bad.jsonl
[[ $("$attune" chat $model --input bad.jsonl --skip-bad --json 2>/dev/null | wc -l) == 1 ]]
printf '{"messages":"the cat"}\n{"messages":[]}\n{"messages":"a","tool":1}\n5\n{"messages":[{"role":"tool","content":"a"}]}\n{"messages":"sat"}\n' >mixed.jsonl
refused 1 'reading mixed.jsonl, line 4: ' "$attune" chat $model --input mixed.jsonl
"$attune" chat $model --input mixed.jsonl --skip-bad --json >good 2>error
grep -o '^{"id":"."' good | tr '\n' ' ' | grep -qx '{"id":"1" {"id":"6" '
grep -q 'mixed.jsonl: 4 bad lines skipped, 2 read' error
grep -q 'line 2: "messages" must be a list' error
grep -q 'line 3: "tool" is no member' error
grep -q 'line 5: .*no such role' error
echo '{"messages":"a","variables":{"tools":[]}}' >variables.jsonl
refused 1 'reading variables.jsonl, line 1: variables have the name "tools"' "$attune" chat $model --input variables.jsonl
echo '{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}' >parts.jsonl
refused 1 'parts.jsonl, line 1: .*write "content" as one text' "$attune" chat $model --input parts.jsonl
echo '[{"name": "f"}]' >tools.json
refused 1 '^attune: error: tools.json: tools are a list of functions' "$attune" chat $model --message a --tools tools.json
echo '[{"type": "function", "function": {"name": "f"}}]' >tools.json
refused 1 'no place for tools' "$attune" chat $model --message a --tools tools.json
refused 1 'no place for tools' "$attune" chat $model --tools tools.json
# A message that fails does not end what comes after it.
status=0
printf '/quti\n%s\n/reset\nthe cat\n' "$long" | "$attune" chat $model --quiet >after 2>error || status=$?
[[ $status == 1 ]]
cmp after one
grep -q 'standard input, line 2: the conversation has .*begin a new one (/reset)' error
refused 2 '--json and --output are for' "$attune" chat $model --json
refused 2 '--date' "$attune" chat $model --message a --date today
refused 2 'two things' "$attune" chat $model --message a --input bad.jsonl
echo '{% if %}' >broken.jinja
refused 1 'broken.jinja, line 1' "$attune" chat $model --message a --chat-template broken.jinja

# As a GGUF file it says the same; the check renders the templates of both.
"$attune" convert $model model.gguf --type f32 --check texts.jsonl --quiet >check
grep -q '^chat template    5 of 5 short conversations the same' check
"$attune" chat model.gguf --message "the cat" --max-tokens 12 --json --quiet >gguf.json
"$attune" chat $model --message "the cat" --max-tokens 12 --json --quiet | cmp - gguf.json

# What is trained from it can be talked with, and writes as it did.
cat >tune.toml <<TOML
task = "lm"
[data]
train = "texts.jsonl"
[model]
from = "$model"
[long]
longest = 64
[train]
max_steps = 1
batch_tokens = 512
TOML
"$attune" train tune.toml --output tuned --quiet >/dev/null
cmp tuned/model/chat_template.jinja $model/chat_template.jinja
cmp tuned/model/generation_config.json $model/generation_config.json
"$attune" chat tuned/model --message "the cat" --json --quiet | grep -q '"generated_tokens":'
