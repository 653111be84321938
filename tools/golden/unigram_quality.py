#!/usr/bin/env python3
"""Compares a unigram tokenizer that Attune trained with one that Hugging Face's UnigramTrainer makes of the same text.

usage: unigram_quality.py tokenizer.json TRAINING_TEXT HELD_OUT_TEXT

    attune tokenizer train --type unigram --vocab-size 8000 --input train.txt --output t
    tools/golden/unigram_quality.py t/tokenizer.json train.txt held.txt

Prints tokens a byte and the log-likelihood a byte (natural logs, of the best way to cut the text) of both, on both texts.
"""
import argparse
import json

from tokenizers import Tokenizer, models, trainers


def trained(like, path):
    """With the same parts around the model, as many tokens and the same special ones."""
    data = json.loads(like.to_str())
    special = [token["content"] for token in data["added_tokens"]]
    size, unknown = len(data["model"]["vocab"]), data["model"]["vocab"][data["model"]["unk_id"]][0]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer = like.normalizer, like.pre_tokenizer
    with open(path, encoding="utf-8") as file:
        tokenizer.train_from_iterator(file.read().split("\n"), trainers.UnigramTrainer(
            vocab_size=size, special_tokens=special, unk_token=unknown, show_progress=False))
    return tokenizer


def figures(tokenizer, path):
    model = json.loads(tokenizer.to_str())["model"]
    scores = [score for _, score in model["vocab"]]
    scores[model["unk_id"]] = min(scores) - 10
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    tokens = size = 0
    likelihood = 0.0
    for line, encoding in zip(lines, tokenizer.encode_batch(lines, add_special_tokens=False)):
        tokens += len(encoding.ids)
        size += len(line.encode())
        likelihood += sum(scores[i] for i in encoding.ids)
    return tokens / size, likelihood / size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer")
    parser.add_argument("training")
    parser.add_argument("held_out")
    arguments = parser.parse_args()
    own = Tokenizer.from_file(arguments.tokenizer)
    for name, tokenizer in (("attune", own), ("tokenizers", trained(own, arguments.training))):
        for text in (arguments.training, arguments.held_out):
            tokens, likelihood = figures(tokenizer, text)
            print(f"{name:10} {text}: {tokens:.4f} tokens a byte, log-likelihood {likelihood:.4f} a byte")


if __name__ == "__main__":
    main()
