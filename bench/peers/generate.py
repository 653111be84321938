#!/usr/bin/env python3
"""Peer of `attune bench generate --model FILE.gguf`: llama.cpp, by llama-cpp-python's bindings of its C functions, with the same file.

As a program: generate.py FILE.gguf THREADS... prints a JSON line for each case. The 512 tokens are the same; then 128 are written, the most
probable each time. The context holds 640 tokens. Peak memory is the whole process's, Python's included. The cold start is the time from a process's
start to its first token, of which the time that Python takes to start and to import the bindings is taken off: what a program that is linked
with llama.cpp takes. The file is in memory already.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

PROMPT, WRITTEN = 512, 128
model = None  # bench/compare --model


def present(root, own, attune):
    python = root / "bench" / "peers" / "venv" / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import llama_cpp"], capture_output=True).returncode != 0:
        print("llama.cpp is missing: run bench/setup_peers python llama", file=sys.stderr)
        return []
    if model is None:
        print("which model llama.cpp reads is not said: give bench/compare generate --model FILE.gguf", file=sys.stderr)
        return []
    threads = [str(n) for n in sorted({line["threads"] for line in own})]
    return [("llama.cpp", [python, __file__, model, *threads], dict(os.environ))]


class Context:
    """A model with room for so many tokens."""

    def __init__(self, path, threads, room):
        import llama_cpp

        self.api = llama_cpp
        silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(silent, None)
        self.kept = silent
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            sys.exit(f"llama.cpp does not read {path}")
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.count = llama_cpp.llama_vocab_n_tokens(self.vocabulary)
        self.parameters = llama_cpp.llama_context_default_params()
        self.parameters.n_ctx = room
        self.parameters.n_batch = self.parameters.n_ubatch = PROMPT
        self.parameters.n_threads = self.parameters.n_threads_batch = threads
        self.parameters.no_perf = True
        self.context = llama_cpp.llama_init_from_model(self.model, self.parameters)

    def tokens_of(self, text):
        data = text.encode()
        ids = (self.api.llama_token * (len(data) + 8))()
        count = self.api.llama_tokenize(self.vocabulary, data, len(data), ids, len(ids), True, True)
        return list(ids[:count])

    def read(self, ids):
        """The most probable next token."""
        import numpy

        held = (self.api.llama_token * len(ids))(*ids)
        if self.api.llama_decode(self.context, self.api.llama_batch_get_one(held, len(ids))) != 0:
            sys.exit("llama.cpp: llama_decode failed")
        logits = self.api.llama_get_logits_ith(self.context, -1)
        return int(numpy.argmax(numpy.ctypeslib.as_array(logits, (self.count,))))

    def forget(self):
        self.api.llama_memory_clear(self.api.llama_get_memory(self.context), True)


def first_token(path, threads):
    """A process of its own: prints the seconds from after the imports to the first token."""
    import llama_cpp  # noqa: F401
    import numpy  # noqa: F401

    began = time.perf_counter()
    context = Context(path, threads, 64)
    context.read(context.tokens_of("The capital of France is"))
    print(time.perf_counter() - began, flush=True)
    os._exit(0)


def tell(case, threads, value):
    print(json.dumps({"case": case, "threads": threads, "value": value}), flush=True)


def main():
    if sys.argv[1] == "first":
        first_token(sys.argv[2], int(sys.argv[3]))
    path, all_threads = sys.argv[1], list(map(int, sys.argv[2:]))
    for threads in all_threads:
        context = Context(path, threads, PROMPT + WRITTEN)
        prompt = [(i * 7919 + 13) % context.count for i in range(PROMPT)]
        reading, writing = [], []
        for round in range(4):
            context.forget()
            began = time.perf_counter()
            token = context.read(prompt)
            reading.append(time.perf_counter() - began)
            if round == 0 and threads == all_threads[0]:
                for _ in range(WRITTEN):
                    token = context.read([token])
                status = pathlib.Path("/proc/self/status").read_text()
                tell("peak memory", threads, int(status.split("VmHWM:")[1].split()[0]) * 1024e-6)
                continue
            began = time.perf_counter()
            for _ in range(WRITTEN):
                token = context.read([token])
            writing.append(time.perf_counter() - began)
        tell("prefill 512", threads, PROMPT / statistics.median(reading[1:]))
        tell("decode 128", threads, WRITTEN / statistics.median(writing[-3:]))
        starts = [
            float(subprocess.run([sys.executable, __file__, "first", path, str(threads)], check=True, capture_output=True).stdout)
            for _ in range(7)
        ]
        tell("cold start", threads, 1e3 * statistics.median(starts))


if __name__ == "__main__":
    main()
