#!/usr/bin/env python3
"""Writes tests/golden/evaluate/metrics.json: what scikit-learn, scipy and a plain numpy ECE say about small made-up predictions.

Needs numpy, scipy and scikit-learn. usage: tools/golden/metrics.py [output directory]
"""
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from scipy.stats import beta
from sklearn.covariance import empirical_covariance
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss, precision_recall_fscore_support, roc_auc_score
from sklearn.neighbors import NearestNeighbors

warnings.filterwarnings("ignore")


def ece(confidence, right, bins=15):
    """Guo et al. 2017, equation 3, bins (low, high] as in their code."""
    edges = np.arange(bins + 1) / bins
    total = 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return total


def classification_case(name, truth, answers, classes):
    case = {"name": name, "classes": classes, "truth": truth.tolist(), "answers": answers.tolist(),
            "accuracy": accuracy_score(truth, answers),
            "confusion": confusion_matrix(truth, answers, labels=range(classes)).tolist(),
            "macro_f1_default": f1_score(truth, answers, average="macro", zero_division=0)}
    p, r, f, s = precision_recall_fscore_support(truth, answers, labels=range(classes), zero_division=0)
    case["per_class"] = {"precision": p.tolist(), "recall": r.tolist(), "f1": f.tolist(), "support": s.tolist()}
    for labels, key in ((None, "present"), (range(classes), "all")):
        case[key] = {average: list(precision_recall_fscore_support(truth, answers, labels=labels, average=average,
                                                                   zero_division=0)[:3])
                     for average in ("macro", "micro", "weighted")}
    return case


def calibration_case(name, logits, truth):
    def figures(t):
        p = softmax(logits / t, axis=1)
        onehot = np.eye(logits.shape[1])[truth]
        return {"ece": ece(p.max(1), p.argmax(1) == truth), "brier": ((p - onehot) ** 2).sum(1).mean(),
                "nll": log_loss(truth, p, labels=range(logits.shape[1]))}

    def nll(b):
        return -log_softmax(logits * b, axis=1)[np.arange(len(truth)), truth].mean()

    best = minimize_scalar(nll, bounds=(0.05, 20), method="bounded", options={"xatol": 1e-12})
    return {"name": name, "logits": logits.tolist(), "truth": truth.tolist(), "before": figures(1.0),
            "temperature": 1 / best.x, "nll_at_temperature": best.fun, "ece_at_temperature": figures(1 / best.x)["ece"]}


def novelty_case(rng):
    width, classes = 5, 3
    centres = rng.normal(size=(classes, width)) * 3
    labels = np.arange(60) % classes
    train = centres[labels] + rng.normal(size=(60, width)) @ rng.normal(size=(width, width)) * 0.5
    queries = np.concatenate([centres[np.arange(6) % classes] + rng.normal(size=(6, width)) * 0.3, rng.normal(size=(6, width)) * 4])
    means = np.stack([train[labels == c].mean(0) for c in range(classes)])
    covariance = empirical_covariance(train - means[labels], assume_centered=True)
    shrinkage = 0.05
    covariance = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / width * np.eye(width)
    precision = np.linalg.inv(covariance)
    mahalanobis = [min((x - m) @ precision @ (x - m) for m in means) for x in queries]
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)
    distances, _ = NearestNeighbors(n_neighbors=4).fit(unit(train)).kneighbors(unit(queries))
    novel = np.array([0] * 6 + [1] * 6)
    return {"train": train.tolist(), "labels": labels.tolist(), "queries": queries.tolist(), "shrinkage": shrinkage,
            "neighbours": 4, "mahalanobis": mahalanobis, "fourth_neighbour": distances[:, 3].tolist(),
            "mahalanobis_auroc": roc_auc_score(novel, mahalanobis)}


def main():
    output = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "tests/golden/evaluate")
    output.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 5, 120)
    noisy = np.where(rng.random(120) < 0.7, truth, rng.integers(0, 5, 120))
    cases = [classification_case("five classes", truth, noisy, 5),
             classification_case("two classes never occur", np.array([0, 0, 1, 1, 4]), np.array([0, 1, 1, 1, 0]), 7),
             classification_case("an answer that is never true", np.array([0, 0, 1]), np.array([0, 2, 2]), 3),
             classification_case("one class", np.array([0, 0, 0]), np.array([0, 0, 0]), 1),
             classification_case("nothing right", np.array([0, 1, 2]), np.array([1, 2, 0]), 3)]
    classes = rng.integers(0, 4, 80)
    logits = rng.normal(size=(80, 4)) + 1.5 * np.eye(4)[classes]
    calibrations = [calibration_case("overconfident", np.round(logits * 3, 4), classes),
                    calibration_case("underconfident", np.round(logits * 0.3, 4), classes)]
    bounds = [{"events": k, "trials": n, "confidence": c, "upper": beta.ppf(c, k + 1, n - k)}
              for k, n, c in ((0, 149, 0.95), (0, 1, 0.9), (1, 100, 0.95), (3, 250, 0.99), (40, 100, 0.95), (999, 1000, 0.95),
                              (120, 60000, 0.975))]
    known, novel = np.round(rng.normal(size=40), 1), np.round(rng.normal(size=25) + 1, 1)
    detection = {"known": known.tolist(), "novel": novel.tolist(),
                 "auroc": roc_auc_score(np.r_[np.zeros(40), np.ones(25)], np.r_[known, novel])}
    golden = {"classification": cases, "calibration": calibrations, "upper_bounds": bounds, "detection": detection,
              "novelty": novelty_case(rng)}
    (output / "metrics.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
