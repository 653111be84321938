#!/usr/bin/env python3
"""Writes tests/golden/sentencepiece_directories/CLASS/: tokenizers as they are published without a tokenizer.json, and what
transformers makes of them.

usage: tools/golden/sentencepiece_directories.py OUTPUT_DIRECTORY

Needs transformers, sentencepiece and protobuf. Each directory holds a small SentencePiece model with the special pieces where published
ones have them, tokenizer_config.json, what else the class reads, and expected.json: {"cases": [{"text", "pair", "ids", "decoded"}]}; ids
with the tokens that stand around a text, decoded without special ones.
"""
import io
import json
import pathlib
import shutil
import sys
import tempfile

import sentencepiece
import transformers as tf

from sentencepiece_goldens import MORE, RULES
from tokenizer_goldens import CORPUS, TEXTS

FAIRSEQ = dict(unk_id=0, bos_id=1, eos_id=2)
TEXTS = TEXTS[:24] + MORE + CORPUS[:2] + ["a <mask> b", "[CLS] a[MASK] b [SEP]", "x <unk_7>y <mask_1> <mask_2>", "``Quoted'' ÀÉ", "a,b!c"]
# special: where the model has its special pieces; options: of the training; settings: tokenizer_config.json; by_type: what config.json
# says instead of a tokenizer_config.json.
CLASSES = {
    "XLMRobertaTokenizer": dict(file="sentencepiece.bpe.model", special=FAIRSEQ, by_type="xlm-roberta"),
    "CamembertTokenizer": dict(file="sentencepiece.bpe.model", special=dict(unk_id=0, bos_id=1, eos_id=2), by_type="camembert"),
    "MBartTokenizer": dict(file="sentencepiece.bpe.model", special=FAIRSEQ, settings={"src_lang": "de_DE", "tgt_lang": "ro_RO"}),
    "MBart50Tokenizer": dict(file="sentencepiece.bpe.model", special=FAIRSEQ, settings={"src_lang": "en_XX", "tgt_lang": None}),
    "PegasusTokenizer": dict(file="spiece.model", special=dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1), by_type="pegasus"),
    "AlbertTokenizer": dict(file="spiece.model", special=dict(pad_id=0, unk_id=1, bos_id=-1, eos_id=-1), by_type="albert",
                            options=dict(control_symbols=["[CLS]", "[SEP]", "[MASK]"])),
    "BigBirdTokenizer": dict(file="spiece.model", special=dict(pad_id=0, eos_id=1, bos_id=2, unk_id=3),
                             options=dict(control_symbols=["[CLS]", "[SEP]", "[MASK]"])),
    "DebertaV2Tokenizer": dict(file="spm.model", special=dict(pad_id=0, bos_id=1, eos_id=2, unk_id=3), by_type="deberta-v2",
                               settings={"do_lower_case": False, "vocab_type": "spm"},
                               options=dict(pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]")),
    "M2M100Tokenizer": dict(file="sentencepiece.bpe.model", special=FAIRSEQ, model_type="bpe", settings={"src_lang": "fr"}),
}


def train(model_type="unigram", **options):
    with tempfile.TemporaryDirectory() as directory:
        rules = pathlib.Path(directory) / "rules.tsv"
        rules.write_text("".join(f"{a}\t{b}\n" for a, b in RULES))
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(line for text in CORPUS for line in text.split("\n")), model_writer=model, hard_vocab_limit=False,
            normalization_rule_tsv=str(rules), num_threads=1, minloglevel=2, model_type=model_type, vocab_size=220, **options)
        return model.getvalue()


def m2m_100(directory, data):
    """Its own numbers, and the languages as special tokens."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    pieces = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    vocabulary = {piece: i for i, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>"] + pieces[5:])}  # some pieces have no number
    (directory / "vocab.json").write_text(json.dumps(vocabulary, indent=1) + "\n")
    codes = tf.models.m2m_100.tokenization_m2m_100.FAIRSEQ_LANGUAGE_CODES["m2m100"]
    special = {"bos_token": "<s>", "eos_token": "</s>", "additional_special_tokens": [f"__{code}__" for code in codes]}
    (directory / "special_tokens_map.json").write_text(json.dumps(special) + "\n")


def main():
    root = pathlib.Path(sys.argv[1])
    for name, one in CLASSES.items():
        directory = root / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        data = train(one.get("model_type", "unigram"), **one["special"], **one.get("options", {}))
        (directory / one["file"]).write_bytes(data)
        settings = {"tokenizer_class": name, **one.get("settings", {})}
        (directory / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")
        if name == "M2M100Tokenizer":
            m2m_100(directory, data)
        tokenizer = getattr(tf, name).from_pretrained(directory)
        cases = []
        for i, text in enumerate(TEXTS):
            case = {"text": text, "pair": TEXTS[i - 1] if i % 5 == 4 else None}
            case["ids"] = tokenizer(text, case["pair"])["input_ids"]
            case["decoded"] = tokenizer.decode(case["ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False)
            cases.append(case)
        if "by_type" in one:
            if "settings" not in one:
                (directory / "tokenizer_config.json").unlink()
            (directory / "config.json").write_text(json.dumps({"model_type": one["by_type"]}) + "\n")
        (directory / "expected.json").write_text(json.dumps({"cases": cases}, ensure_ascii=False, separators=(",", ":")) + "\n")
        print(name)


if __name__ == "__main__":
    main()
