#!/usr/bin/env python3
"""usage: _packages_sklearn.py SPLIT_DIRECTORY

The linear model that a practitioner compares with, on the split that `attune split` made: TF-IDF over words and pairs of words, then
logistic regression; C is chosen on the validation part. Prints macro-F1 and accuracy on the test part.
"""
import json
import pathlib
import sys
import time

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score

split = pathlib.Path(sys.argv[1])


def read(name):
    rows = [json.loads(line) for line in (split / name).read_text().splitlines()]
    return [r["text"] for r in rows], [r["label"] for r in rows]


train, validation, test = (read(name + ".jsonl") for name in ("train", "validation", "test"))
began = time.time()
vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
x = vectorizer.fit_transform(train[0])
best = None
for c in (10, 100, 1000):
    model = LogisticRegression(C=c, max_iter=300).fit(x, train[1])
    score = f1_score(validation[1], model.predict(vectorizer.transform(validation[0])), average="macro")
    print(f"C {c}: validation macro-F1 {score:.4f}", flush=True)
    if best is None or score > best[0]:
        best = (score, c, model)
answers = best[2].predict(vectorizer.transform(test[0]))
print(f"scikit-learn TF-IDF + logistic regression (C {best[1]}): test macro-F1 {f1_score(test[1], answers, average='macro'):.4f}, "
      f"accuracy {accuracy_score(test[1], answers):.4f}, {time.time() - began:.0f} s")
