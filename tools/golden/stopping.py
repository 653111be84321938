#!/usr/bin/env python3
"""Goldens of searches that a stopping criterion ends, as stop texts do.

usage: tools/golden/stopping.py     writes tests/golden/generation/stopping.json

What transformers' generate() finds with the checkpoints of tests/golden/models where a text ends once the sum of the ids written is divisible by a
number. Needs torch and transformers (tools/golden/requirements.txt).
"""
import json

import torch
import transformers as tf
from decoding import LLAMA, load
from generation import GOLDEN, inputs


class Divisible(tf.StoppingCriteria):
    def __init__(self, begin, divisor):
        self.begin, self.divisor = begin, divisor

    def __call__(self, ids, scores, **rest):
        return ids[:, self.begin:].sum(-1) % self.divisor == 0


def searched(model, ids, case):
    begin = 1 if model.config.is_encoder_decoder else len(ids)
    result = model.generate(torch.tensor([ids]), max_new_tokens=case["max_tokens"], do_sample=False, num_beams=case["beams"], eos_token_id=case["stop_ids"],
                            pad_token_id=model.config.pad_token_id, return_dict_in_generate=True, output_scores=True, forced_eos_token_id=None, bad_words_ids=None,
                            num_return_sequences=case["beams"], length_penalty=case["length_penalty"], early_stopping=case["early_stopping"],
                            stopping_criteria=tf.StoppingCriteriaList([Divisible(begin, case["divisor"])]))
    found = []
    for row, sequence in enumerate(result.sequences[:, begin:].tolist()):
        ends = [i for i, token in enumerate(sequence) if token in case["stop_ids"] or sum(sequence[:i + 1]) % case["divisor"] == 0]
        found.append({"ids": sequence[:ends[0] + 1] if ends else sequence, "stopped": bool(ends), "score": result.sequences_scores[row].item()})
    return found


def main():
    cases = []
    for name, stops in ((LLAMA, [1]), ("gpt2_tied", [1, 7]), ("marian_scaled", [1])):
        model = load(name)
        for beams, divisor, penalty, early in ((2, 5, 1.0, False), (4, 5, 1.0, False), (3, 3, 0.5, True), (4, 9, 2.0, False)):
            case = {"model": name, "beams": beams, "divisor": divisor, "length_penalty": penalty, "early_stopping": early, "max_tokens": 10, "stop_ids": stops}
            case["inputs"] = inputs(model.config.vocab_size, 17)
            case["expected"] = [searched(model, ids, case) for ids in case["inputs"]]
            cases.append(case)
    lines = ",\n".join(json.dumps(case) for case in cases)
    (GOLDEN / "generation" / "stopping.json").write_text("[\n" + lines + "\n]\n")


if __name__ == "__main__":
    main()
