#!/usr/bin/env python3
"""Writes tests/golden/baseline/linear_model.json: scikit-learn's words, TF-IDF weights and logistic regression on small texts,
with the letters and digits of several scripts, where programs differ about what a word is.

Needs scikit-learn. usage: tools/golden/linear_model.py [output directory]
"""
import json
import random
import sys
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

ODD = ["ΟΔΟΣ", "Straße", "İzmir", "naïve", "e\u0301cole", "x²", "½ dose", "५ mg", "٣ ampoules", "snake_case", "_a", "O'Neill", "co-amoxiclav",
       "Ⅳ", "東京 大学", "ﬁne", "Ǆ", "emoji 😀 here", "a\u200db", "मरीज़", "ПАЦИЕНТ", "q8h", "1,000.5"]
TOPICS = {
    "drugs": "take the tablets twice daily with food and stop if there is a rash after dose of".split(),
    "money": "please pay the amount due on the account of the stay within days or call us".split(),
    "pictures": "there is no fracture seen on the film and the lungs are clear with a small".split(),
    "letters": "thank you for seeing this patient who has pain and would value your opinion on".split(),
}


def text(rng, label):
    words = [rng.choice(TOPICS[label] if rng.random() < 0.6 else TOPICS[rng.choice(list(TOPICS))]) for _ in range(rng.randint(4, 18))]
    if rng.random() < 0.4:
        words.insert(rng.randint(0, len(words)), rng.choice(ODD))
    if rng.random() < 0.3:
        words[0] = words[0].upper()
    return " ".join(words) + rng.choice([".", "", "!", " -"])


def main():
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "tests" / "golden" / "baseline"
    rng = random.Random(7)
    labels = sorted(TOPICS)
    make = lambda n: [(label, text(rng, label)) for label in (rng.choice(labels) for _ in range(n))]
    train, test = make(90), make(25)
    test.append(("money", "zzz qqq"))  # no known word
    result = {"labels": labels, "train": train, "test": test, "words": [], "models": []}
    analyse = TfidfVectorizer().build_analyzer()
    result["words"] = [{"text": t, "words": analyse(t)} for t in ODD + ["A ab ABC", "", "tab\tand\nline", "ΣΑΣ ΣΑΣ."]]
    for sublinear in (True, False):
        vectorizer = TfidfVectorizer(sublinear_tf=sublinear, ngram_range=(1, 2), min_df=2)
        x = vectorizer.fit_transform([t for _, t in train])
        names, rows = vectorizer.get_feature_names_out(), vectorizer.transform([t for _, t in test[:6]])
        entry = {"sublinear": sublinear, "terms": len(names), "rows": [{names[j]: round(float(row[0, j]), 12) for j in row.nonzero()[1]} for row in rows], "fits": []}
        for c in (0.5, 10.0, 200.0) if sublinear else (10.0,):
            model = LogisticRegression(C=c, tol=1e-10, max_iter=20000).fit(x, [label for label, _ in train])
            assert list(model.classes_) == labels
            p = model.predict_proba(vectorizer.transform([t for _, t in test]))
            entry["fits"].append({"c": c, "probabilities": [[round(float(v), 8) for v in row] for row in p]})
        result["models"].append(entry)
    output.mkdir(parents=True, exist_ok=True)
    (output / "linear_model.json").write_text(json.dumps(result, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
