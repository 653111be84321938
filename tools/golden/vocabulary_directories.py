#!/usr/bin/env python3
"""Writes tests/golden/vocabulary_directories/NAME/: tokenizers as they are published with vocab.txt, or with vocab.json and merges.txt,
without a tokenizer.json, and what transformers makes of them.

usage: tools/golden/vocabulary_directories.py OUTPUT_DIRECTORY

Needs transformers and tokenizers. expected.json is as tools/golden/sentencepiece_directories.py writes it.
"""
import json
import pathlib
import shutil
import sys

import transformers as tf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from sentencepiece_goldens import MORE
from tokenizer_goldens import CORPUS, TEXTS

TEXTS = TEXTS[:20] + MORE + CORPUS[:2] + ["a <mask> b", "[CLS] a[MASK] b [SEP]", "</s><s> x", "MKTAYIAKQR", "M<mask>L QQ xx.-", "LL  <cls>AB\nB", ""]
ESM = "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z O . - <null_1> <mask>".split()


def word_piece(special):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=220, special_tokens=special, show_progress=False))
    vocabulary = tokenizer.get_vocab()
    return {"vocab.txt": "".join(token + "\n" for token in sorted(vocabulary, key=vocabulary.get))}


def byte_pairs(special):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=340, special_tokens=special, show_progress=False,
                                                             initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(tokenizer.to_str())["model"]
    merges = "".join((m if isinstance(m, str) else " ".join(m)) + "\n" for m in model["merges"])
    return {"vocab.json": json.dumps(model["vocab"], ensure_ascii=False) + "\n", "merges.txt": "#version: 0.2\n" + merges}


BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
# files; the class; tokenizer_config.json; config.json's model_type where that alone says the class.
KINDS = {
    "bert": (word_piece(BERT), "BertTokenizer", {"do_lower_case": True}, None),
    "distilbert_cased": (word_piece(BERT), "DistilBertTokenizer", {"do_lower_case": False}, None),
    "mpnet": (word_piece(["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]), "MPNetTokenizer", {}, "mpnet"),
    "esm": ({"vocab.txt": "\n".join(ESM)}, "EsmTokenizer", {}, "esm"),
    "gpt2": (byte_pairs(["<|endoftext|>"]), "GPT2Tokenizer", {}, "gpt2"),
    "opt": (byte_pairs(["<s>", "<pad>", "</s>", "<unk>"]), "GPT2Tokenizer",
            {"bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>", "add_bos_token": True}, None),
    "roberta": (byte_pairs(ROBERTA), "RobertaTokenizer", {"add_prefix_space": True}, None),
    "bart": (byte_pairs(ROBERTA), "BartTokenizer", {}, "bart"),
}


def main():
    root = pathlib.Path(sys.argv[1])
    for name, (files, class_name, settings, model_type) in KINDS.items():
        directory = root / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        for file, text in files.items():
            (directory / file).write_text(text)
        (directory / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": class_name, **settings}) + "\n")
        tokenizer = tf.AutoTokenizer.from_pretrained(directory)
        cases = []
        for i, text in enumerate(TEXTS):
            case = {"text": text, "pair": TEXTS[i - 1] if i % 5 == 4 else None}
            case["ids"] = tokenizer(text, case["pair"])["input_ids"]
            case["decoded"] = tokenizer.decode(case["ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False)
            cases.append(case)
        if model_type:
            (directory / "tokenizer_config.json").unlink()
            (directory / "config.json").write_text(json.dumps({"model_type": model_type}) + "\n")
        (directory / "expected.json").write_text(json.dumps({"cases": cases}, ensure_ascii=False, separators=(",", ":")) + "\n")
        print(name, type(tokenizer).__name__, cases[0]["ids"], cases[-3]["ids"], cases[-3]["decoded"])


if __name__ == "__main__":
    main()
