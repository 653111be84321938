#!/usr/bin/env python3
"""Compares Attune's tokenization with Hugging Face's tokenizers: ids, types, tokens, offsets, special mask and decoded text.

usage: compare_tokenizers.py tokenizer.json TEXT_FILE... [--attune "build/release/attune tokenize"] [--pairs] [--no-special]

A text is a line of a file (with --paragraphs: what stands between empty lines). The command gets the tokenizer as its next
argument, and `--input - --json`; it reads JSON lines {"text", "pair", "add_special_tokens"} and writes one JSON line for each.
Files that are not UTF-8 are read with their bad bytes replaced. Exit status 1 where anything differs.
"""
import argparse
import json
import shlex
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer


def texts_of(paths, paragraphs):
    for path in paths:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
        yield from (text.split("\n\n") if paragraphs else text.split("\n"))


def expected(tokenizer, text, pair, special):
    encoding = tokenizer.encode(text, pair, add_special_tokens=special)
    return {
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "tokens": encoding.tokens,
        "offsets": [list(o) for o in encoding.offsets],
        "special": encoding.special_tokens_mask,
        "decoded": tokenizer.decode(encoding.ids),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer")
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--attune", default="build/release/attune tokenize")
    parser.add_argument("--pairs", action="store_true", help="each text with the one after it")
    parser.add_argument("--no-special", action="store_true", help="without special tokens")
    parser.add_argument("--paragraphs", action="store_true")
    parser.add_argument("--show", type=int, default=3, help="differences to print")
    arguments = parser.parse_args()

    tokenizer = Tokenizer.from_file(arguments.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = list(texts_of(arguments.texts, arguments.paragraphs))
    pairs = texts[1:] + texts[:1] if arguments.pairs else [None] * len(texts)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as lines:
        for text, pair in zip(texts, pairs):
            lines.write(json.dumps({"text": text, "pair": pair, "add_special_tokens": not arguments.no_special}) + "\n")
        lines.flush()
        command = shlex.split(arguments.attune) + [arguments.tokenizer, "--input", "-", "--json"]
        with open(lines.name, "rb") as stdin:
            output = subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, check=True).stdout
    answers = output.decode().rstrip("\n").split("\n")
    if len(answers) != len(texts):
        sys.exit(f"{len(texts)} texts, but {len(answers)} answers")
    differ, tokens = {}, 0
    for text, pair, answer in zip(texts, pairs, answers):
        want, got = expected(tokenizer, text, pair, not arguments.no_special), json.loads(answer)
        tokens += len(want["ids"])
        for key, value in want.items():
            if key not in got and "error" not in got:
                continue
            if got.get(key) != value:
                differ[key] = differ.get(key, 0) + 1
                if differ[key] <= arguments.show:
                    where = [i for i, (a, b) in enumerate(zip(value, got.get(key, []))) if a != b][:1] or [0]
                    at = max(0, where[0] - 3)
                    print(f"{key} of {text[:300]!r}: at {where[0]}\n  tokenizers {value[at:at + 12]!r}"
                          f"\n  attune     {got.get(key, got.get('error'))[at:at + 12]!r}")
        if got.get("stream_ok") is False:
            differ["stream"] = differ.get("stream", 0) + 1
    size = sum(len(t.encode("utf-8", "surrogatepass")) for t in texts)
    print(f"{arguments.tokenizer}: {len(texts)} texts, {size / 1e6:.2f} MB, {tokens} tokens, differences: {differ or 'none'}")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
