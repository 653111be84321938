#!/usr/bin/env python3
"""Writes texts, rouge, answers and stems (.json) of tests/golden/evaluate: what the reference programs say about small made-up texts.

Needs sacrebleu, rouge-score, seqeval, jiwer and pytrec_eval-terrier (tools/golden/requirements.txt). SQuAD's two evaluation scripts are
no packages: their rules are written out here as the scripts' pages define them. usage: tools/golden/text_metrics.py [output directory]
"""
import collections
import json
import math
import random
import re
import string
import sys
import warnings
from pathlib import Path

import jiwer
import pytrec_eval
import sacrebleu
import seqeval.metrics
import seqeval.scheme
from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer, tokenize
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

warnings.filterwarnings("ignore")

# Texts that a tokenizer can stumble over.
ODD = ["", " ", "a", "Hello, world!", "The price is 1,234.56 dollars -- or 5-6 euros.", "it's 'quoted' \"twice\" (and) [more]",
       "&quot;A&quot; &amp;lt; B &lt;b&gt; &unknown;", "line one-\nbroken\nline two", "<skipped>x<skipped>", "naïve café, größer: Straße!",
       "«Bonjour» – dit-il… 3 % de 1 000 €", "他说:“你好。”价格是3.5元。", "数字１２．３４，和ａ", "👩‍👩‍👧 emoji 🎉🎉, flags 🇩🇪!", "tab\tand\u00a0nbsp\u2003em\u3000wide",
       "x\x1cy\x1dz\x85w", "مرحبا، 5.5؟", "İstanbul ΟΔΟΣ ΣΑΣ ẞ Å", "...,,,--- !!! ??", "a.b c,d 1.a a.1 1,000,000. .5 5.", "$5.00+£3=8€ ^~|`@#", "co-op 3-4 4-a --", "e\u0301le\u0300ve a\u0301 b",
       "ends with space  ", "under_score __init__ a_b"]

VOCABULARY = ("the a an of in to it was cat dog house running runs ran quickly, slowly. it's 3.14 42 \"yes\" (no) don't relational generalization "
              "happiness studies Studies The A And and U.S. e.g., well-known naïve über 10,000").split()


def sentence(rng, longest=18):
    return " ".join(rng.choice(VOCABULARY) for _ in range(rng.randint(1, longest)))


def changed(rng, text):
    words = text.split(" ")
    for _ in range(rng.randint(0, max(1, len(words) // 3))):
        at = rng.randrange(len(words) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            words.insert(at, rng.choice(VOCABULARY))
        elif words and kind == 1:
            words[min(at, len(words) - 1)] = rng.choice(VOCABULARY)
        elif len(words) > 1:
            words.pop(min(at, len(words) - 1))
    return " ".join(words)


def text_sets(rng):
    one = [(changed(rng, t), [t]) for t in (sentence(rng) for _ in range(40))]
    three = [(changed(rng, t), [t, changed(rng, t), sentence(rng)]) for t in (sentence(rng) for _ in range(25))]
    short = [("the cat", ["the cat sat"]), ("dog", ["a dog"]), ("", ["a house"]), ("42 yes", ["no"]), ("a an of in", ["a an of in"])]
    odd = [(ODD[(i * 7 + 3) % len(ODD)] + " " + t, [t]) for i, t in enumerate(ODD) if t.strip()] + [(t, [t]) for t in ODD if t.strip()]
    nothing = [("xyz", ["abc"]), ("pqr stu", ["def ghi"])]
    return {"one reference": one, "three references": three, "short": short, "odd": odd, "nothing right": nothing}


def bleu_cases(sets):
    cases = []
    for name, pairs in sets.items():
        hypotheses, references = [p for p, _ in pairs], [list(r) for r in zip(*[r for _, r in pairs])]
        settings = [{"tokenize": t, "lowercase": lc} for t in ("13a", "intl", "char", "none") for lc in (False, True)]
        settings += [{"smooth_method": s, "smooth_value": v, "effective_order": e} for s, v in (("exp", None), ("floor", None), ("floor", 0.01),
                     ("floor", 0.0), ("add-k", None), ("add-k", 0.5), ("none", None)) for e in (False, True)]
        for s in settings:
            metric = sacrebleu.BLEU(**s)
            score = metric.corpus_score(hypotheses, references)
            single = [sacrebleu.BLEU(**{**s, "effective_order": True}).sentence_score(h, r).score for h, r in pairs[:6]]
            cases.append({"set": name, **s, "score": score.score, "precisions": score.precisions, "bp": score.bp, "sys_len": score.sys_len,
                          "ref_len": score.ref_len, "signature": metric.get_signature().format().split("|version")[0], "single": single})
    return cases


def chrf_cases(sets):
    cases = []
    for name, pairs in sets.items():
        hypotheses, references = [p for p, _ in pairs], [list(r) for r in zip(*[r for _, r in pairs])]
        for s in ({}, {"word_order": 2}, {"word_order": 1, "beta": 3}, {"lowercase": True}, {"whitespace": True, "char_order": 4}, {"word_order": 2, "lowercase": True}):
            metric = sacrebleu.CHRF(**s)
            cases.append({"set": name, **s, "score": metric.corpus_score(hypotheses, references).score,
                          "signature": metric.get_signature().format().split("|version")[0],
                          "single": [metric.sentence_score(h, r).score for h, r in pairs[:6]]})
    return cases


def rouge_cases(sets, rng):
    kinds = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    sets = dict(sets)
    lines = lambda: "\n".join(sentence(rng, 8) for _ in range(rng.randint(1, 4)))
    sets["lines"] = [("\n".join(changed(rng, l) for l in t.split("\n")), [t]) for t in (lines() for _ in range(30))] + [("\n\n", ["a\n"]), ("", ["x"])]
    cases = []
    for name, pairs in sets.items():
        for stem in (False, True):
            scorer = rouge_scorer.RougeScorer(kinds, use_stemmer=stem)
            scores = [scorer.score_multi(r, h) for h, r in pairs]
            cases.append({"set": name, "stem": stem, "scores": [[list(s[k]) for k in kinds] for s in scores]})
    return cases, sets["lines"]


def stems():
    beginnings = ("a", "e", "cat", "hop", "hopp", "rela", "relat", "sky", "sk", "fall", "fil", "fail", "condi", "condit", "val", "radic", "differ", "vil", "analog",
                  "hes", "form", "feud", "decis", "hope", "call", "sens", "triplic", "elect", "good", "reviv", "allow", "infer", "airlin", "gyro", "adjust",
                  "defens", "irrit", "replac", "depend", "adopt", "commun", "activ", "angul", "effect", "bowdler", "prob", "rat", "ceas", "controll", "roll",
                  "oral", "y", "yy", "ay", "boy", "try", "b", "x9", "tan", "siz", "tro", "geo", "theo", "pla")
    endings = ("", "s", "es", "ies", "ied", "ed", "eed", "ing", "y", "yed", "ying", "ational", "tional", "enci", "anci", "izer", "bli", "abli", "alli", "entli", "eli", "ousli",
               "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "fulli", "logi", "icate", "ative", "alize",
               "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "sion", "tion", "ou",
               "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll", "le", "z", "zz", "ss", "sses", "at", "ated", "bling", "izing", "ology")
    special = ("sky skies dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed dies died spied flies lies tie ties "
               "say says saying enjoy enjoyed possibly possibility archaeology is as us").split()
    stemmer = PorterStemmer()
    words = sorted({b + e for b in beginnings for e in endings} | set(special))
    return {w: stemmer.stem(w) for w in words}


def number(value):
    """A mean over no types is not a number there, and 0 here."""
    return 0.0 if math.isnan(value) else float(value)


def seqeval_cases(rng):
    types = ("PER", "LOC", "ORG-X")
    free = ["O", "O", "O"] + [m + "-" + t for m in "BI" for t in types]
    marks = free + ["E-PER", "S-LOC", "E-LOC", "B", "I", "S"]
    cases = []
    for name, tags, count in (("iob2", free, 30), ("all marks", marks, 30), ("nothing", ["O"], 3), ("one type", ["O", "B-A", "I-A"], 10)):
        truth = [[rng.choice(tags) for _ in range(rng.randint(1, 12))] for _ in range(count)]
        answers = [[t if rng.random() < 0.75 else rng.choice(tags) for t in row] for row in truth]
        for mode in (None, "strict"):
            if mode and name == "all marks":
                continue
            scheme = {"mode": "strict", "scheme": seqeval.scheme.IOB2} if mode else {}
            report = seqeval.metrics.classification_report(truth, answers, output_dict=True, zero_division=0, **scheme)
            cases.append({"name": name, "strict": bool(mode), "truth": truth, "answers": answers,
                          "report": {k: [number(v["f1-score"]), number(v["precision"]), number(v["recall"]), int(v["support"])] for k, v in report.items()}})
    return cases


def normalize(text):
    """SQuAD's evaluate-v1.1.py and evaluate-v2.0.py agree on it: lower case, no punctuation, no articles, single spaces."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def squad_f1(answer, truth, version):
    a, t = normalize(answer).split(), normalize(truth).split()
    if version == 2 and (not a or not t):
        return float(a == t)
    same = sum((collections.Counter(a) & collections.Counter(t)).values())
    return 0.0 if same == 0 else 2 * (same / len(a)) * (same / len(t)) / (same / len(a) + same / len(t))


def squad_cases(rng):
    texts = ["The Cat", "the cat.", "a cat", "Cat!", "cats", "an apple", "apple, an", "the", "A", "", "naïve a\u0301 theory", "ΟΔΟΣ", "οδος", "ODOΣ.", "1,000", "1000", "the U.S.A.", "usa",
             "in   the\tspace", "in space", "他 the 说", "_the_ end"]
    questions = []
    for i in range(80):
        truth = [rng.choice([t for t in texts if normalize(t)]) for _ in range(rng.randint(1, 3))] if rng.random() < 0.7 else []
        answer = rng.choice(truth) + rng.choice(["", ".", " cat"]) if truth and rng.random() < 0.5 else rng.choice(texts + [""] * 8)
        questions.append({"answer": answer, "truth": truth, "no_answer_probability": round(rng.random(), 2) + i / 1e4})
    with_truth = [q for q in questions if q["truth"]]
    one = {"exact": 100 * sum(max(normalize(q["answer"]) == normalize(t) for t in q["truth"]) for q in with_truth) / len(with_truth),
           "f1": 100 * sum(max(squad_f1(q["answer"], t, 1) for t in q["truth"]) for q in with_truth) / len(with_truth)}

    def raw(q):
        gold = [t for t in q["truth"] if normalize(t)] or [""]
        return max(float(normalize(q["answer"]) == normalize(t)) for t in gold), max(squad_f1(q["answer"], t, 2) for t in gold)

    def means(rows):
        return [100 * sum(r[k] for r in rows) / len(rows) for k in (0, 1)]

    scores = [raw(q) for q in questions]
    two = {}
    for threshold in (1.0, 0.5):
        now = [(float(not q["truth"]),) * 2 if q["no_answer_probability"] > threshold else s for q, s in zip(questions, scores)]
        two[str(threshold)] = {"all": means(now), "has": means([s for q, s in zip(questions, now) if q["truth"]]),
                               "no": means([s for q, s in zip(questions, now) if not q["truth"]])}
    best = {}
    for k, name in ((0, "exact"), (1, "f1")):
        current = highest = sum(not q["truth"] for q in questions)
        threshold = 0.0
        for q, s in sorted(zip(questions, scores), key=lambda x: x[0]["no_answer_probability"]):
            current += s[k] if q["truth"] else (-1 if q["answer"] else 0)
            if current > highest:
                highest, threshold = current, q["no_answer_probability"]
        best[name] = [100 * highest / len(questions), threshold]
    return {"questions": questions, "normal": [[t, normalize(t)] for t in texts + ODD], "v1": one, "v2": two, "best": best}


def ranking_cases(rng):
    queries = {}
    for q in range(30):
        documents = [f"d{i}" for i in range(rng.randint(1, 25))]
        run = {d: round(rng.random() * 2, 1) + (1e-9 if rng.random() < 0.3 else 0) for d in rng.sample(documents, rng.randint(1, len(documents)))}
        judged = {d: rng.choice([0, 0, 1, 1, 2, 3, -1]) for d in rng.sample(documents + ["e1", "e2"], rng.randint(1, len(documents)))}
        queries[f"q{q}"] = (run, judged)
    measures = {"ndcg_cut.1,3,10", "recall.1,3,10", "P.1,3,10", "ndcg", "map", "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator({q: j for q, (_, j) in queries.items()}, measures)
    result = evaluator.evaluate({q: r for q, (r, _) in queries.items()})
    return [{"scores": r, "grades": j, "expected": result[q]} for q, (r, j) in queries.items()]


def edit_cases(sets):
    pairs = [(h, r[0]) for pairs in sets.values() for h, r in pairs]
    pairs += [("", ""), ("a b", ""), ("a", " "), ("", "a"), (" ", "a b")]
    return {"pairs": pairs, "wer": [jiwer.wer(r, h) for h, r in pairs], "cer": [jiwer.cer(r, h) for h, r in pairs],
            "all": [jiwer.wer([r for _, r in pairs], [h for h, _ in pairs]), jiwer.cer([r for _, r in pairs], [h for h, _ in pairs])]}


def main():
    output = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "tests/golden/evaluate")
    rng = random.Random(5)
    sets = text_sets(rng)
    rouge, lines = rouge_cases(sets, rng)
    tokens = [{"text": t, "13a": Tokenizer13a()(t.rstrip()).split(), "intl": TokenizerV14International()(t.rstrip()).split(),
               "char": TokenizerChar()(t.rstrip()).split(), "words": t.split(), "lower": t.lower(),
               "rouge": tokenize.tokenize(t, None), "stems": tokenize.tokenize(t, PorterStemmer())} for t in ODD]
    golden = {"sets": {**sets, "lines": lines}, "tokens": tokens, "bleu": bleu_cases(sets), "chrf": chrf_cases(sets), "rouge": rouge,
              "spans": seqeval_cases(rng), "squad": squad_cases(rng), "ranking": ranking_cases(rng), "edits": edit_cases(sets)}
    write = lambda name, value: (output / name).write_text(json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n")
    write("texts.json", {k: golden[k] for k in ("sets", "tokens", "bleu", "chrf")})
    write("rouge.json", {"cases": golden["rouge"]})
    write("answers.json", {k: golden[k] for k in ("spans", "squad", "ranking", "edits")})
    write("stems.json", stems())


if __name__ == "__main__":
    main()
