#!/usr/bin/env python3
"""Peer of `attune bench translate`: CTranslate2 with the same weights and sources, four beams, 32 tokens each.

As a program: translate.py DIRECTORY COMPUTE_TYPE,... THREADS... prints a JSON line for each type and number of threads. DIRECTORY is what
`attune bench translate --export` writes; CTranslate2's own converter for Marian turns it into its format beside it, once. All
sources are one batch; the median of three runs after one that is not counted.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

CASES = {"float32": "f32, beam 4", "int8": "int8, beam 4"}


def present(root, own, attune):
    python = root / "bench" / "peers" / "venv" / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import ctranslate2"], capture_output=True).returncode != 0:
        print("CTranslate2 is missing: run bench/setup_peers python", file=sys.stderr)
        return []
    present.data = tempfile.TemporaryDirectory(prefix="attune-translate-")  # lives as long as the comparison
    case = pathlib.Path(present.data.name) / "case"
    subprocess.run([attune, "bench", "translate", "--export", case], check=True)
    threads = [str(n) for n in sorted({line["threads"] for line in own})]
    wanted = {line["case"] for line in own}
    kinds = ",".join(kind for kind, name in CASES.items() if name in wanted)
    return [("ctranslate2", [python, __file__, case, kinds, *threads], dict(os.environ))]


def convert(directory):
    import torch
    import transformers
    from ctranslate2.converters.transformers import MarianMTLoader

    model = transformers.MarianMTModel.from_pretrained(directory)
    with torch.no_grad():
        spec = MarianMTLoader().get_model_spec(model)
    words = [str(i) for i in range(model.config.vocab_size - 1)]  # without padding, of which the loader leaves out the weights
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.eos_token = words[model.config.eos_token_id]
    spec.config.unk_token = words[1]
    spec.config.decoder_start_token = spec.config.eos_token  # any: a Marian's decoder begins with a vector of zeros there
    spec.config.add_source_eos = False
    spec.config.add_source_bos = False
    spec.validate()
    spec.optimize(quantization=None)
    (directory / "ctranslate2").mkdir()
    spec.save(str(directory / "ctranslate2"))


def main():
    import ctranslate2

    directory = pathlib.Path(sys.argv[1])
    if not (directory / "ctranslate2").exists():
        convert(directory)
    sources = [list(map(str, json.loads(line))) for line in (directory / "sources.jsonl").read_text().splitlines()]
    for kind in sys.argv[2].split(","):
        for threads in map(int, sys.argv[3:]):
            translator = ctranslate2.Translator(str(directory / "ctranslate2"), device="cpu", compute_type=kind, inter_threads=1,
                                                intra_threads=threads)
            seconds, written = [], 0
            for _ in range(4):
                began = time.perf_counter()
                results = translator.translate_batch(sources, beam_size=4, min_decoding_length=32, max_decoding_length=32)
                seconds.append(time.perf_counter() - began)
                lengths = {len(result.hypotheses[0]) for result in results}
                assert lengths == {32}, lengths
                written = sum(len(result.hypotheses[0]) for result in results)
            print(json.dumps({"case": CASES[kind], "threads": threads, "value": written / statistics.median(seconds[1:]),
                              "unit": "tokens/s"}), flush=True)


if __name__ == "__main__":
    main()
