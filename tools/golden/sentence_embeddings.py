#!/usr/bin/env python3
"""Goldens of sentence embeddings: tiny seeded models in sentence-transformers' layout and what it makes of some texts.

usage: tools/golden/sentence_embeddings.py     writes tests/golden/sentence_embeddings/NAME/

Needs torch, transformers and sentence-transformers in an environment of its own. Each directory is a model as published, with expected.json:
{prompt name or "": [embedding of each text]}, and the texts.
"""
import json
import pathlib
import shutil

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "sentence_embeddings"
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the patient has pain in chest an invoice for two guests query passage : . , ##s find a".split()
TEXTS = ["The patient has pain in the chest.", "An invoice for two guests", "pain", "the patient, the invoice, the chest: two pains"]


def encoder(directory):
    torch.manual_seed(3)
    (directory / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    BertTokenizerFast(vocab_file=str(directory / "vocab.txt"), do_lower_case=True).save_pretrained(directory)
    config = BertConfig(vocab_size=len(WORDS), hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20,
                        max_position_embeddings=40, initializer_range=0.4)
    BertModel(config).save_pretrained(directory)
    return Transformer(str(directory), max_seq_length=32)


def write(name, modules, prompts=None, default=None, older=False):
    target = ROOT / name
    shutil.rmtree(target, ignore_errors=True)
    scratch = ROOT / ".scratch"
    scratch.mkdir(parents=True)
    model = SentenceTransformer(modules=[encoder(scratch), *modules], prompts=prompts, default_prompt_name=default, device="cpu").eval()
    model.save(str(target), create_model_card=False)
    if older:  # what files say that were written before sentence-transformers 5
        pooling = next(target.glob("*Pooling")) / "config.json"
        modes = json.loads(pooling.read_text())["pooling_mode"]
        flags = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "mean_sqrt_len_tokens": "mean_sqrt_len_tokens"}
        pooling.write_text(json.dumps({"word_embedding_dimension": 12, **{f"pooling_mode_{key}": mode in modes for key, mode in flags.items()}}))
        for entry in (listed := json.loads((target / "modules.json").read_text())):
            entry["type"] = "sentence_transformers.models." + entry["type"].rsplit(".", 1)[1]
        (target / "modules.json").write_text(json.dumps(listed))
        model = SentenceTransformer(str(target), device="cpu").eval()
    asked = [None, *(prompts or {})]
    expected = {prompt or "": model.encode(TEXTS, prompt_name=prompt).tolist() for prompt in asked}
    (target / "expected.json").write_text(json.dumps({"texts": TEXTS, "embeddings": expected}))
    shutil.rmtree(scratch)


def main():
    every = ["cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
    torch.manual_seed(5)
    write("every_pooling", [Pooling(12, pooling_mode=every)])
    write("dense_normalised", [Pooling(12, pooling_mode="cls"), Dense(12, 7), Dense(7, 5, bias=False, activation_function=torch.nn.Identity()), Normalize()])
    write("prompts_not_pooled", [Pooling(12, pooling_mode=["mean", "weightedmean", "cls"], include_prompt=False)],
          prompts={"query": "query: find ", "passage": "passage: "}, default="passage")
    write("older_files", [Pooling(12, pooling_mode=["cls", "mean", "mean_sqrt_len_tokens"]), Normalize()], older=True)


main()
