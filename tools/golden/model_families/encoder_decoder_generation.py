#!/usr/bin/env python3
"""Goldens of decoding with encoder-decoders, made as those of ../generation.py are (which see).

usage: tools/golden/model_families/encoder_decoder_generation.py     writes tests/golden/generation/encoder_decoders.json
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import generation as base
import transformers as tf


def expected(name, case):
    """As ../generation.py has it, for any encoder-decoder; without a cache, which generate() makes as long as the encoder is."""
    results = []
    for dtype in (base.torch.float64, base.torch.float32):
        model = tf.AutoModelForSeq2SeqLM.from_pretrained(base.GOLDEN / "models" / name, dtype=dtype, attn_implementation="eager").eval()
        model.generation_config.use_cache = False
        model.generation_config.forced_bos_token_id = case.get("forced_first_id")
        results.append([base.written(model, ids, case) for ids in case["inputs"]])
    if [r["ids"] for r in results[0]] != [r["ids"] for r in results[1]]:
        raise base.NearTie
    return results[0]


def main():
    base.expected = expected
    cases = []
    for name in ("bart_scaled", "bart_own_head", "t5_scaled", "t5_v1_1", "umt5_scaled"):
        cases.append(base.make(name, 1))
        cases.append(base.make(name, 4))
        cases.append(base.make(name, 4, length_penalty=2.0, max_tokens=20, stop_ids=[6, 11, 21]))
    for name in ("mbart_scaled", "pegasus_scaled", "m2m_100_scaled", "mt5_own_head"):
        cases.append(base.make(name, 4, forced_stop_id=9, stop_ids=[9]))
    for name in ("mbart_scaled", "m2m_100_scaled"):
        cases.append(base.make(name, 4, forced_first_id=17, forced_stop_id=6))
        cases.append(base.make(name, 1, forced_first_id=30))
    lines = ",\n".join(json.dumps(case) for case in cases)
    (base.GOLDEN / "generation" / "encoder_decoders.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
