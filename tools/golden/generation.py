#!/usr/bin/env python3
"""Goldens of decoding: what Hugging Face transformers' generate() writes with the checkpoints of tests/golden/models.

usage: tools/golden/generation.py     writes tests/golden/generation/cases.json

Needs torch and transformers (tools/golden/requirements.txt). Inputs are run one by one. A case is kept only if f64 gives the same ids
as f32 and no greedy choice is near a tie, so that rounding decides nothing.
"""
import json
import os
import pathlib

os.environ["OMP_NUM_THREADS"] = "1"  # the models are tiny: threads would only wait for each other

import torch
import transformers as tf

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
torch.use_deterministic_algorithms(True)


class NearTie(Exception):
    pass


def inputs(vocab, seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(3, vocab - 1, (length,), generator=generator).tolist() for length in (7, 1, 12, 5)]


def written(model, ids, case):
    settings = dict(max_new_tokens=case["max_tokens"], do_sample=False, num_beams=case["beams"], eos_token_id=case["stop_ids"],
                    pad_token_id=model.config.pad_token_id, return_dict_in_generate=True, output_scores=True)
    if case["beams"] > 1:
        settings["length_penalty"] = case["length_penalty"]
    if case["forbidden_ids"]:
        settings["bad_words_ids"] = [[i] for i in case["forbidden_ids"]]
        settings["renormalize_logits"] = True
    settings["forced_eos_token_id"] = case["forced_stop_id"]
    result = model.generate(torch.tensor([ids]), **settings)
    begin = 1 if model.config.is_encoder_decoder else len(ids)
    sequence = result.sequences[0, begin:].tolist()
    if case["beams"] == 1:
        for scores in result.scores:
            best = scores[0].topk(2).values
            if best[0] - best[1] < 1e-3:
                raise NearTie
        return {"ids": sequence}
    return {"ids": sequence, "score": result.sequences_scores[0].item()}


def expected(name, case):
    kinds = {"marian": tf.MarianMTModel, "llama": tf.LlamaForCausalLM, "gpt2": tf.GPT2LMHeadModel}
    kind = kinds[name.split("_")[0]]
    results = []
    for dtype in (torch.float64, torch.float32):
        model = kind.from_pretrained(GOLDEN / "models" / name, dtype=dtype, attn_implementation="eager").eval()
        results.append([written(model, ids, case) for ids in case["inputs"]])
    if [r["ids"] for r in results[0]] != [r["ids"] for r in results[1]]:
        raise NearTie
    return results[0]


def make(name, beams, **other):
    """With the first inputs of which no choice is a matter of rounding."""
    for seed in range(1, 50):
        try:
            return make_with(name, beams, seed, **other)
        except NearTie:
            continue
    raise SystemExit(f"{name}: no inputs without near ties")


def make_with(name, beams, seed, **other):
    config = json.loads((GOLDEN / "models" / name / "config.json").read_text())
    marian = name.startswith("marian")
    case = {"model": name, "beams": beams, "length_penalty": 1.0, "max_tokens": 12, "stop_ids": [config["eos_token_id"]],
            "forced_stop_id": config["eos_token_id"] if marian else None, "forbidden_ids": [config["pad_token_id"]] if marian else [],
            "inputs": inputs(38, seed), **other}
    case["expected"] = expected(name, case)
    print(name, beams, case["stop_ids"], [e["ids"][:6] for e in case["expected"]], flush=True)
    return case


def main():
    cases = []
    for name in ("llama_tied_biased", "llama_untied_llama3_rope", "llama_linear_rope_old"):
        cases.append(make(name, 1))
        cases.append(make(name, 3, stop_ids=[5, 11]))
    cases.append(make("gpt2_tied", 1, max_tokens=9))
    cases.append(make("gpt2_untied_unscaled", 3, max_tokens=9, stop_ids=[5, 11]))
    for name in ("marian_scaled", "marian_unscaled"):
        cases.append(make(name, 1))
        cases.append(make(name, 4))
        # Without what these random weights repeat for ever.
        favourites = [3, 2, 38] if name == "marian_scaled" else [0, 2, 14, 22, 30]
        cases.append(make(name, 4, length_penalty=0.3, stop_ids=[5, 19, 24], forced_stop_id=19, forbidden_ids=favourites))
        cases.append(make(name, 2, length_penalty=2.0, max_tokens=20, stop_ids=[7, 35], forced_stop_id=None, forbidden_ids=favourites))
        cases.append(make(name, 5, length_penalty=-1.0, max_tokens=8, stop_ids=[2, 9, 17], forced_stop_id=None, forbidden_ids=[]))
        cases.append(make(name, 1, stop_ids=[2, 7, 19], forced_stop_id=2))
    directory = GOLDEN / "generation"
    directory.mkdir(exist_ok=True)
    (directory / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
