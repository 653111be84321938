#!/usr/bin/env python3
"""Peer of `attune bench tokenize`: the same texts and tokenizer.json files with Hugging Face's tokenizers.

As a program: tokenize_peer.py DIRECTORY CASE THREADS runs one case in this process and prints a JSON line, MB of text a second: the median of
several runs over all texts after one to warm up (its cache of words stays filled, as Attune's does);
`tokenize_peer.py --all DIRECTORY THREADS CASE...` runs each in a process of its own.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def present(root, own, attune):
    python = root / "bench" / "peers" / "venv" / "bin" / "python"
    if not python.exists():
        print("tokenizers is missing: run bench/setup_peers python", file=sys.stderr)
        return []
    present.data = tempfile.TemporaryDirectory(prefix="attune-tokenize-")  # lives as long as the comparison
    cases = pathlib.Path(present.data.name) / "cases"
    subprocess.run([attune, "bench", "tokenize", "--export", cases], check=True)
    names = sorted({line["case"] for line in own})
    threads = ",".join(str(n) for n in sorted({line["threads"] for line in own}))
    return [("tokenizers", [python, __file__, "--all", cases, threads, *names], dict(os.environ))]


def run_all(directory, threads, names):
    for count in threads.split(","):
        environment = dict(os.environ, RAYON_NUM_THREADS=count, TOKENIZERS_PARALLELISM="false" if count == "1" else "true")
        for name in names:
            subprocess.run([sys.executable, __file__, directory, name, count], check=True, env=environment)


def measure(directory, name, threads):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(pathlib.Path(directory) / f"{name}.json"))
    with open(pathlib.Path(directory) / "texts.jsonl") as file:
        texts = [json.loads(line)["text"] for line in file]
    size = sum(len(text.encode()) for text in texts)
    seconds = []
    for _ in range(4):
        begun = time.perf_counter()
        tokenizer.encode_batch(texts)
        seconds.append(time.perf_counter() - begun)
    print(json.dumps({"case": name, "threads": threads, "value": size / statistics.median(seconds[1:]) * 1e-6, "unit": "MB/s"}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--all":
        run_all(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
