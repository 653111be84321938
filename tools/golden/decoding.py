#!/usr/bin/env python3
"""Goldens of what changes logits before a token is chosen, and of searches under such rules.

usage: tools/golden/decoding.py     writes processors.json, searches.json and sliding.json of tests/golden/generation

processors.json: distributions that transformers' processors, in transformers' own order, make of fixed logits. searches.json: what its generate()
finds with the checkpoints of tests/golden/models; diverse beam search, which transformers 5 left to code outside of it, is the paper's
algorithm, written out below and checked against transformers where there is one group. sliding.json: losses of the windows of Hugging Face's recipe for
the perplexity of texts longer than the model. Needs torch and transformers (tools/golden/requirements.txt).
"""
import json
import math
import os
import warnings

os.environ["OMP_NUM_THREADS"] = "1"

import torch
import transformers as tf
from generation import GOLDEN, NearTie, inputs

warnings.filterwarnings("ignore")
tf.logging.set_verbosity_error()

LLAMA = "llama_untied_llama3_rope"
KINDS = {"marian": tf.MarianMTModel, "llama": tf.LlamaForCausalLM, "gpt2": tf.GPT2LMHeadModel}


def load(name, dtype=torch.float32):
    return KINDS[name.split("_")[0]].from_pretrained(GOLDEN / "models" / name, dtype=dtype, attn_implementation="eager").eval()


def processor_cases():
    model = load(LLAMA)
    generator = torch.Generator().manual_seed(11)
    vocabulary, stops = model.config.vocab_size, [1, 7]
    settings = [{}, {"temperature": 0.7}, {"top_k": 5}, {"top_k": 1}, {"top_p": 0.6}, {"top_p": 0.999}, {"top_p": 1e-6}, {"min_p": 0.1}, {"min_p": 1.0},
                {"typical_p": 0.3}, {"typical_p": 0.9}, {"temperature": 1.7, "top_k": 20, "top_p": 0.8, "min_p": 0.05, "typical_p": 0.7},
                {"temperature": 0.3, "min_p": 0.2}, {"top_k": 12, "typical_p": 0.5}, {"repetition_penalty": 1.3}, {"repetition_penalty": 0.6},
                {"no_repeat_ngram_size": 1}, {"no_repeat_ngram_size": 2}, {"no_repeat_ngram_size": 3}, {"no_repeat_ngram_size": 40},
                {"bad_words_ids": [[3], [9, 4], [5, 9, 4], [4]]}, {"min_length": 30}, {"min_new_tokens": 4}, {"min_new_tokens": 3, "min_length": 5},
                {"suppress_tokens": [2, 11]}, {"presence_penalty": 0.8}, {"frequency_penalty": 0.5}, {"presence_penalty": -0.4, "frequency_penalty": 1.2},
                {"repetition_penalty": 1.5, "presence_penalty": 0.3, "frequency_penalty": 0.2, "no_repeat_ngram_size": 2, "bad_words_ids": [[8], [4, 2]],
                 "min_new_tokens": 6, "suppress_tokens": [13], "temperature": 0.9, "top_k": 15, "top_p": 0.9, "min_p": 0.02, "typical_p": 0.95}]
    cases = []
    for number, case in enumerate(settings):
        for given, written in (([5, 9, 4, 9, 4, 22, 5], [9, 4, 9]), ([8, 3], []), ([4, 4, 4, 9, 5, 9], [4, 6, 6, 4, 5, 9])):
            logits = (torch.randn(vocabulary, generator=generator) * 2.5).round(decimals=3)
            logits[20:24] = logits[24]  # as probable as one another
            case = dict(case)
            presence, frequency = case.pop("presence_penalty", 0.0), case.pop("frequency_penalty", 0.0)
            config = tf.GenerationConfig(do_sample=True, eos_token_id=stops, pad_token_id=0, **{"top_k": 0, **case})
            model._prepare_special_tokens(config, kwargs_has_attention_mask=True, device="cpu")

            def penalties(_, scores):  # OpenAI's definition: of tokens that were sampled
                counts = torch.bincount(torch.tensor(written, dtype=torch.long), minlength=vocabulary).to(scores)
                return scores - counts * frequency - (counts > 0).to(scores) * presence

            processors = model._get_logits_processor(config, input_ids_seq_length=len(given), logits_processor=tf.LogitsProcessorList([penalties]))
            scores = processors(torch.tensor([given + written]), logits[None].clone())[0]
            cases.append({"settings": {**case, "presence_penalty": presence, "frequency_penalty": frequency}, "given": given, "written": written,
                          "stop_ids": stops, "logits": [round(x, 3) for x in logits.tolist()], "probabilities": [round(p, 9) for p in torch.softmax(scores.double(), -1).tolist()]})
    return cases


def searched(model, ids, case):
    settings = dict(max_new_tokens=case["max_tokens"], do_sample=False, num_beams=case["beams"], eos_token_id=case["stop_ids"], pad_token_id=model.config.pad_token_id,
                    return_dict_in_generate=True, output_scores=True, forced_eos_token_id=None, bad_words_ids=None, num_return_sequences=case["beams"])
    if case["beams"] > 1:
        settings["length_penalty"] = case["length_penalty"]
    result = model.generate(torch.tensor([ids]), **{**settings, **case["settings"]})
    begin = 1 if model.config.is_encoder_decoder else len(ids)
    found = []
    for row, sequence in enumerate(result.sequences[:, begin:].tolist()):
        ends = [i for i, token in enumerate(sequence) if token in case["stop_ids"]]
        found.append({"ids": sequence[:ends[0] + 1] if ends else sequence})
        if case["beams"] > 1:
            found[-1]["score"] = result.sequences_scores[row].item()
    return found


def next_log_probabilities(model, ids, written):
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            decoder = torch.tensor([[model.config.decoder_start_token_id] + written])
            logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=decoder).logits
        else:
            logits = model(input_ids=torch.tensor([ids + written])).logits
    return torch.log_softmax(logits[0, -1].double(), -1).tolist()


def diverse(model, ids, case):
    """Vijayakumar et al. 2016, algorithm 1, with the Hamming diversity of section 4.1; a group ends as a beam search of transformers does."""
    groups, size = case["groups"], case["beams"] // case["groups"]
    running, finished, done = [[([], 0.0)] for _ in range(groups)], [[] for _ in range(groups)], [False] * groups
    for length in range(1, case["max_tokens"] + 1):
        chosen = []
        for g in range(groups):
            if done[g]:
                continue
            candidates = []
            for b, (written, score) in enumerate(running[g]):
                for token, value in enumerate(next_log_probabilities(model, ids, written)):
                    candidates.append((score + value - case["diversity_penalty"] * chosen.count(token), b, token))
            candidates.sort(key=lambda c: (-c[0], c[1], c[2]))
            candidates = candidates[:size * max(2, 1 + len(case["stop_ids"]))]
            gaps = [a[0] - b[0] for a, b in zip(candidates, candidates[1:])]
            if min(gaps) < 1e-4:
                raise NearTie
            next_running = []
            for place, (score, b, token) in enumerate(candidates):
                text = running[g][b][0] + [token]
                stops, last = token in case["stop_ids"], length == case["max_tokens"]
                if (stops or last) and place < size:
                    finished[g].append((score / length ** case["length_penalty"], text))
                if not stops and not last and len(next_running) < size:
                    next_running.append((text, score))
            finished[g] = sorted(finished[g], key=lambda f: -f[0])[:size]
            running[g] = next_running
            chosen += [text[-1] for text, _ in next_running]
            full = len(finished[g]) == size
            done[g] = not next_running or (full and next_running[0][1] / length ** case["length_penalty"] <= finished[g][-1][0])
            if done[g]:
                chosen = chosen[:len(chosen) - len(next_running)]
    best = sorted((f for group in finished for f in group), key=lambda f: -f[0])
    return [{"ids": text, "score": score} for score, text in best]


def search_case(name, beams, **other):
    for seed in range(1, 60):
        case = {"model": name, "beams": beams, "groups": 1, "diversity_penalty": 0.0, "length_penalty": 1.0, "max_tokens": 10, "stop_ids": [5, 11], "settings": {}, **other}
        case["inputs"] = inputs(38, seed)[:3]
        try:
            results = []
            for dtype in (torch.float64, torch.float32):
                model = load(name, dtype)
                find = diverse if case["groups"] > 1 or case["diversity_penalty"] else searched
                results.append([find(model, ids, case) for ids in case["inputs"]])
            if [[r["ids"] for r in one] for one in results[0]] != [[r["ids"] for r in one] for one in results[1]]:
                raise NearTie
            scores = [[r.get("score", 0) for r in one] for one in results[1]]
            if any(abs(a - b) < 1e-4 for one in scores for a, b in zip(one, one[1:]) if beams > 1):
                raise NearTie
        except NearTie:
            continue
        case["expected"] = results[1]
        print(name, beams, case["groups"], case["settings"], [one[0]["ids"] for one in results[1]], flush=True)
        return case
    raise SystemExit(f"{name} {other}: no inputs without near ties")


def check_diverse():
    """With one group it is transformers' beam search."""
    compared = 0
    for name in (LLAMA, "marian_scaled"):
        model = load(name)
        case = {"beams": 3, "groups": 1, "diversity_penalty": 0.0, "length_penalty": 0.7, "max_tokens": 8, "stop_ids": [5, 11], "settings": {}}
        for ids in inputs(38, 4) + inputs(38, 5) + inputs(38, 6):
            try:
                ours, theirs = diverse(model, ids, case), searched(model, ids, case)
            except NearTie:
                continue
            compared += 1
            assert [o["ids"] for o in ours] == [t["ids"] for t in theirs], (ours, theirs)
            assert all(abs(o["score"] - t["score"]) < 1e-4 for o, t in zip(ours, theirs))
    assert compared > 3, compared


def searches():
    check_diverse()
    cases = []
    for name in (LLAMA, "marian_unscaled"):
        many = {"stop_ids": [5, 11, 24]}
        cases += [search_case(name, 1, settings={"repetition_penalty": 1.6}), search_case(name, 1, settings={"no_repeat_ngram_size": 2}),
                  search_case(name, 3, settings={"no_repeat_ngram_size": 2}), search_case(name, 3, settings={"no_repeat_ngram_size": 1, "renormalize_logits": True}),
                  search_case(name, 4, settings={"repetition_penalty": 1.4}), search_case(name, 3, settings={"repetition_penalty": 1.4, "renormalize_logits": True}, **many),
                  search_case(name, 3, settings={"early_stopping": True}, length_penalty=2.0, **many), search_case(name, 3, settings={"early_stopping": "never"}, length_penalty=0.5, **many),
                  search_case(name, 2, settings={"min_new_tokens": 6}, **many), search_case(name, 2, settings={"min_length": 9}, **many),
                  search_case(name, 3, settings={"suppress_tokens": [14, 22], "begin_suppress_tokens": [30, 39]})]
        for groups, penalty, length_penalty in ((3, 0.7, 1.0), (2, 1.5, 0.3), (6, 0.4, 1.0)):
            cases.append(search_case(name, 6, groups=groups, diversity_penalty=penalty, length_penalty=length_penalty, max_tokens=7))
    return cases


def sliding_cases():
    model = load("llama_tied_biased", torch.float64)
    generator = torch.Generator().manual_seed(2)
    cases = []
    for tokens, length, stride in ((50, 16, 8), (50, 16, 16), (33, 10, 3), (12, 16, 8), (41, 8, 7), (20, 5, 1)):
        ids = torch.randint(3, 37, (tokens,), generator=generator)
        losses, total, count, before = [], 0.0, 0, 0
        for begin in range(0, tokens, stride):
            end = min(begin + length, tokens)
            fresh = end - before
            labels = ids[begin:end].clone()
            labels[:-fresh] = -100
            with torch.no_grad():
                loss = model(ids[None, begin:end], labels=labels[None]).loss.item()
            losses.append(loss)
            kept = int((labels != -100).sum()) - 1
            total, count = total + loss * kept, count + kept
            before = end
            if end == tokens:
                break
        cases.append({"ids": ids.tolist(), "length": length, "stride": stride, "losses": losses, "perplexity": math.exp(total / count)})
    return {"model": "llama_tied_biased", "cases": cases}


def main():
    write = lambda name, value: (GOLDEN / "generation" / name).write_text(json.dumps(value) + "\n")
    write("processors.json", processor_cases())
    write("sliding.json", sliding_cases())
    write("searches.json", searches())


if __name__ == "__main__":
    main()
