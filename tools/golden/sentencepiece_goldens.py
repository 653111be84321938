#!/usr/bin/env python3
"""Writes tests/golden/sentencepiece/*.json: small SentencePiece models of every kind and option, and what the `sentencepiece` package
gives for texts that are hard in the ways that real ones are.

usage: sentencepiece_goldens.py OUTPUT_DIRECTORY [--models DIRECTORY]

A golden is {"model": the file in base64, "cases": [{"text", "ids", "offsets", "decoded"}], "decodings": [{"ids", "decoded"}]}; offsets
are code points, two a token. With --models the files themselves are written, too.
"""
import argparse
import base64
import io
import json
import pathlib
import random
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb

from tokenizer_goldens import CORPUS, TEXTS

# From what to what: code points in hexadecimal. Keys of several characters, keys that begin others, replacements that are longer,
# empty, or spaces.
RULES = [
    ("65 301", "E9"), ("75 308", "FC"), ("75 308 323", "1EE5 308"), ("FB01", "66 69"), ("BD", "31 2044 32"), ("9", "20"), ("A", "20"),
    ("D", "20"), ("D A", "20"), ("A0", "20"), ("3000", "20"), ("200B", ""), ("7", ""), ("FEFF", ""), ("FF21", "41"), ("41", "61"),
    ("41 301", "E1"), ("3F", "3F 20 3F"), ("2026", "2E 2E 2E"), ("2167", "56 49 49 49"), ("B4", "20 301"), ("130", "69 307"),
]
MORE = ["▁already▁marked text▁", "a\tb\n\nc\r\nd", "A\u0301 A\u0301\u0302 e\u0301 e\u0301\u0323 u\u0308\u0323 \u200b\u200b", "? ?? ?", "...   ",
        "\u200b \u200b", "<s>x</s><unk><sep>", "<user>a<user> b ab<us<user>er>", "x\u0007\u200by", "ＡＡ ﬁﬁ ½…", "日本語のテキスト", "aaaaaaaaaaaaaaaaaa",
        "<0x41>", "   ▁ ▁▁ x"]


def train(**options):
    with tempfile.TemporaryDirectory() as directory:
        rules = pathlib.Path(directory) / "rules.tsv"
        rules.write_text("".join(f"{a}\t{b}\n" for a, b in RULES))
        if options.pop("rules", True):
            options["normalization_rule_tsv"] = str(rules)
        else:
            options["normalization_rule_name"] = "identity"
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(line for text in CORPUS for line in text.split("\n")), model_writer=model, hard_vocab_limit=False,
            num_threads=1, minloglevel=2, **options)
        return model.getvalue()


def changed(data, change):
    model = pb.ModelProto()
    model.ParseFromString(data)
    change(model)
    return model.SerializeToString()


def unuse(model):
    """Every fifth piece that BPE joined may no longer be used."""
    for i, piece in enumerate(model.pieces):
        if piece.type == piece.NORMAL and len(piece.piece) > 1 and i % 5 == 0:
            piece.type = piece.UNUSED


def denormalize(model):
    model.denormalizer_spec.CopyFrom(model.normalizer_spec)
    model.denormalizer_spec.add_dummy_prefix = False
    model.denormalizer_spec.escape_whitespaces = False


def models():
    yield "unigram", train(model_type="unigram", vocab_size=260)
    yield "unigram_bytes", train(model_type="unigram", vocab_size=500, byte_fallback=True, character_coverage=0.98)
    yield "unigram_symbols", train(model_type="unigram", vocab_size=260, user_defined_symbols=["<user>", "ab", "low "], control_symbols=["<sep>"],
                                   pad_id=3)
    yield "unigram_spaces", train(model_type="unigram", vocab_size=260, remove_extra_whitespaces=False, add_dummy_prefix=False, rules=False)
    yield "unigram_suffix", train(model_type="unigram", vocab_size=260, treat_whitespace_as_suffix=True)
    yield "unigram_unused", changed(train(model_type="unigram", vocab_size=300), unuse)
    yield "bpe", train(model_type="bpe", vocab_size=300)
    yield "bpe_bytes", train(model_type="bpe", vocab_size=520, byte_fallback=True, character_coverage=0.98, split_digits=True,
                             allow_whitespace_only_pieces=True, remove_extra_whitespaces=False, rules=False)
    yield "bpe_symbols", train(model_type="bpe", vocab_size=300, user_defined_symbols=["<user>", "ab"], unk_surface="??")
    yield "bpe_unused", changed(train(model_type="bpe", vocab_size=300), unuse)
    yield "bpe_denormalized", changed(train(model_type="bpe", vocab_size=300, split_by_whitespace=False), denormalize)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, data in models():
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        cases = []
        for text in TEXTS + MORE + CORPUS[:4]:
            pieces = processor.encode(text, return_type="proto").pieces
            ids = [piece.id for piece in pieces]
            offsets = [len(text.encode()[:x].decode()) for piece in pieces for x in (piece.begin, piece.end)]
            cases.append({"text": text, "ids": ids, "offsets": offsets,
                          "decoded": processor.decode(ids)})
        generator = random.Random(name)
        decodings = [{"ids": ids, "decoded": processor.decode(ids)}
                     for ids in ([generator.randrange(processor.get_piece_size()) for _ in range(12)] for _ in range(30))]
        if arguments.models:
            arguments.models.mkdir(parents=True, exist_ok=True)
            (arguments.models / f"{name}.model").write_bytes(data)
        golden = {"model": base64.b64encode(data).decode(), "cases": cases, "decodings": decodings}
        (arguments.output / f"{name}.json").write_text(
            json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
