#!/usr/bin/env python3
"""Peer of `attune bench train`: the same trainings with PyTorch in eager mode and transformers' models, on the same ids.

As a program: train.py CASE.jsonl THREADS [--steps N] runs one case in this process and prints two JSON lines, tokens a second (real
tokens, no padding) and peak memory (VmHWM in MB); `train.py --all DIRECTORY THREADS...` runs each case in a process of its own.

classifier  BertModel (SDPA), the mean of a chunk's hidden states, pooler, mean of a document's chunks, output layer. Documents are
            sorted by length, batches have as many real tokens as Attune's, chunks are padded to the longest of the batch and masked.
gpt2        GPT2LMHeadModel (SDPA), nothing to pad.
Both: fused AdamW; the first step is not timed, as in Attune.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time


def present(root, own, attune):
    python = root / "bench" / "peers" / "venv" / "bin" / "python"
    if not python.exists():
        print("PyTorch is missing: run bench/setup_peers python", file=sys.stderr)
        return []
    present.data = tempfile.TemporaryDirectory(prefix="attune-train-")  # lives as long as the comparison
    cases = pathlib.Path(present.data.name) / "cases"
    subprocess.run([attune, "bench", "train", "--export", cases], check=True)
    wanted = {line["case"] for line in own}
    for case in cases.glob("*.jsonl"):
        if case.stem not in wanted:
            case.unlink()
    threads = [str(n) for n in sorted({line["threads"] for line in own})]
    return [("pytorch", [python, __file__, "--all", cases, *threads], dict(os.environ))]


def run_all(directory, threads):
    for count in threads:
        for case in sorted(pathlib.Path(directory).glob("*.jsonl")):
            subprocess.run([sys.executable, __file__, case, count], check=True)


def peak_memory_mb():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024e-6
    raise RuntimeError("no VmHWM in /proc/self/status")


def read_case(path):
    with open(path) as file:
        head = json.loads(next(file))
        return head, [json.loads(line) for line in file]


def classifier(head, examples):
    import torch
    from transformers import BertConfig, BertModel

    config = {k: v for k, v in head["config"].items() if k not in ("classifier_pooling", "architectures", "model_type")}

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            c = BertConfig(**config)
            self.bert = BertModel(c, add_pooling_layer=False)
            self.pooler = torch.nn.Linear(c.hidden_size, c.hidden_size)
            self.dropout = torch.nn.Dropout(c.classifier_dropout or c.hidden_dropout_prob)
            self.output = torch.nn.Linear(c.hidden_size, len(c.id2label))

        def forward(self, ids, mask, documents, count):
            hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state  # [chunks, longest, hidden]
            weights = mask.unsqueeze(-1).to(hidden.dtype)
            pooled = self.dropout(torch.tanh(self.pooler((hidden * weights).sum(1) / weights.sum(1))))
            sums = torch.zeros(count, pooled.shape[1]).index_add_(0, documents, pooled)
            return self.output(sums / torch.bincount(documents, minlength=count).unsqueeze(-1))

    def tokens_of(example):
        return sum(map(len, example["chunks"]))

    batches, batch, filled = [], [], 0
    for example in sorted(examples, key=lambda e: (max(map(len, e["chunks"])), tokens_of(e))):
        if batch and filled + tokens_of(example) > head["batch_tokens"]:
            batches.append(batch)
            batch, filled = [], 0
        batch.append(example)
        filled += tokens_of(example)
    batches.append(batch)
    padded = sum(max(len(c) for e in b for c in e["chunks"]) * sum(len(e["chunks"]) for e in b) for b in batches)
    print(f"classifier: {padded / sum(map(tokens_of, examples)):.2f} tokens computed for each real one", file=sys.stderr)
    random.Random(1).shuffle(batches)

    model = Classifier().train()
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=head["label_smoothing"])

    def loss(batch):
        chunks = [chunk for example in batch for chunk in example["chunks"]]
        owners = [i for i, example in enumerate(batch) for _ in example["chunks"]]
        longest = max(map(len, chunks))
        ids = torch.tensor([chunk + [0] * (longest - len(chunk)) for chunk in chunks])
        mask = torch.tensor([[1] * len(chunk) + [0] * (longest - len(chunk)) for chunk in chunks])
        logits = model(ids, mask, torch.tensor(owners), len(batch))
        return loss_of(logits, torch.tensor([example["labels"][0] for example in batch]))

    return model, loss, batches, tokens_of


def gpt2(head, examples):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = {k: v for k, v in head["config"].items() if k not in ("architectures", "model_type")}
    model = GPT2LMHeadModel(GPT2Config(**config, attn_implementation="sdpa")).train()
    model.loss_type = "ForCausalLM"
    size = head["batch_size"]
    batches = [examples[i : i + size] for i in range(0, len(examples), size)]

    def loss(batch):
        ids = torch.tensor([example["chunks"][0] for example in batch])
        return model(input_ids=ids, labels=ids).loss

    return model, loss, batches, lambda example: len(example["chunks"][0])


def run_case(path, threads, steps):
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    head, examples = read_case(path)
    model, loss_of, batches, tokens_of = {"classifier": classifier, "gpt2": gpt2}[head["case"]](head, examples)
    optimizer = torch.optim.AdamW(model.parameters(), lr=head["learning_rate"], weight_decay=head["weight_decay"], fused=True)
    tokens, seconds = 0, 0.0
    for number, batch in enumerate(batches[:steps]):
        began = time.perf_counter()
        loss = loss_of(batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        if number > 0:
            seconds += time.perf_counter() - began
            tokens += sum(map(tokens_of, batch))
    print(json.dumps({"case": head["case"], "threads": threads, "value": tokens / seconds, "unit": "tokens/s"}))
    print(json.dumps({"case": head["case"] + ", peak memory", "threads": threads, "value": peak_memory_mb(), "unit": "MB"}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--all"]:
        run_all(sys.argv[2], sys.argv[3:])
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("case", type=pathlib.Path)
        parser.add_argument("threads", type=int)
        parser.add_argument("--steps", type=int, help="fewer than all, for trying")
        options = parser.parse_args()
        run_case(options.case, options.threads, options.steps)
