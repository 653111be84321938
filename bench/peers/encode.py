#!/usr/bin/env python3
"""Peers of `attune bench encode`: the same documents through an encoder of the same sizes, mean pooling, vectors of length 1.

As a program: encode.py PEER f32|int8 CASE.jsonl THREADS... prints a JSON line for each number of threads, real tokens a second (no padding counted).
All peers take the documents sorted by length, 32 together, padded to the longest of the batch, which is what sentence-transformers does.

pytorch      BertModel (SDPA)
onnxruntime  the same model exported and fused by onnxruntime.transformers; int8: quantised dynamically, a scale for each channel
ctranslate2  the same model converted (its encoder takes ragged batches and pads within); int8: its compute type
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PEERS = {"f32": ("pytorch", "onnxruntime", "ctranslate2"), "int8": ("onnxruntime", "ctranslate2")}


def present(root, own, attune):
    python = root / "bench" / "peers" / "venv" / "bin" / "python"
    if not python.exists():
        print("PyTorch is missing: run bench/setup_peers python", file=sys.stderr)
        return []
    present.data = tempfile.TemporaryDirectory(prefix="attune-encode-")  # lives as long as the comparison
    cases = pathlib.Path(present.data.name) / "cases"
    subprocess.run([attune, "bench", "encode", "--export", cases], check=True)
    threads = [str(n) for n in sorted({line["threads"] for line in own})]
    kinds = [kind for kind in PEERS if any(line["case"] == f"minilm, {kind}" for line in own)]
    found = []
    for peer in PEERS["f32"]:
        module = {"pytorch": "torch"}.get(peer, peer)
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode != 0:
            print(f"{peer} is missing: run bench/setup_peers python", file=sys.stderr)
            continue
        wanted = ",".join(kind for kind in kinds if peer in PEERS[kind])
        if wanted:
            found.append((peer, [python, __file__, peer, wanted, cases / "minilm.jsonl", *threads], dict(os.environ)))
    return found


def batches_of(documents):
    documents = sorted(documents, key=len)
    return [documents[i : i + 32] for i in range(0, len(documents), 32)]


def padded(batch):
    import numpy

    longest = max(map(len, batch))
    ids = numpy.array([ids + [0] * (longest - len(ids)) for ids in batch], dtype=numpy.int64)
    mask = numpy.array([[1] * len(ids) + [0] * (longest - len(ids)) for ids in batch], dtype=numpy.int64)
    return ids, mask


def pooled(states, mask):
    """Mean of the real tokens' states, to length 1; numpy."""
    import numpy

    weights = mask[:, :, None].astype(numpy.float32)
    mean = (states * weights).sum(1) / weights.sum(1)
    return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)


def bert(head):
    import torch
    from transformers import BertConfig, BertModel

    config = {k: v for k, v in head["config"].items() if k not in ("architectures", "model_type")}
    torch.manual_seed(1)
    return BertModel(BertConfig(**config), add_pooling_layer=False).eval()


def pytorch(head, kind, threads):
    import torch

    torch.set_num_threads(threads)
    model = bert(head)

    def embed(batch):
        ids, mask = map(torch.from_numpy, padded(batch))
        with torch.inference_mode():
            states = model(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask.unsqueeze(-1).to(states.dtype)
            return torch.nn.functional.normalize((states * weights).sum(1) / weights.sum(1))

    return embed


def onnxruntime(head, kind, threads):
    import onnxruntime as ort
    import torch
    from onnxruntime.transformers import optimizer

    directory = pathlib.Path(tempfile.mkdtemp(prefix="attune-onnx-"))

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = bert(head)

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    example = torch.ones(2, 8, dtype=torch.int64)
    dynamic = {0: "batch", 1: "length"}
    torch.onnx.export(States().eval(), (example, example), str(directory / "model.onnx"), input_names=["input_ids", "attention_mask"],
                      output_names=["states"], dynamic_axes={"input_ids": dynamic, "attention_mask": dynamic, "states": dynamic},
                      opset_version=17, dynamo=False)
    config = head["config"]
    fused = optimizer.optimize_model(str(directory / "model.onnx"), model_type="bert", num_heads=config["num_attention_heads"],
                                     hidden_size=config["hidden_size"])
    fused.save_model_to_file(str(directory / "f32.onnx"))
    if kind == "int8":
        import onnx
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(str(directory / "f32.onnx"), str(directory / "int8.onnx"), per_channel=True, weight_type=QuantType.QInt8,
                         extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})  # fused operations do not tell theirs
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(str(directory / f"{kind}.onnx"), options, providers=["CPUExecutionProvider"])

    def embed(batch):
        ids, mask = padded(batch)
        return pooled(session.run(None, {"input_ids": ids, "attention_mask": mask})[0], mask)

    return embed


def ctranslate2(head, kind, threads):
    import ctranslate2
    import numpy
    from transformers import BertTokenizerFast

    directory = pathlib.Path(tempfile.mkdtemp(prefix="attune-ct2-"))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += [f"w{i}" for i in range(len(words), head["config"]["vocab_size"])]
    (directory / "vocab.txt").write_text("\n".join(words) + "\n")
    bert(head).save_pretrained(directory)
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "position_embedding_type": "absolute"}))  # the converter asks for it
    BertTokenizerFast(vocab_file=str(directory / "vocab.txt")).save_pretrained(directory)
    ctranslate2.converters.TransformersConverter(str(directory)).convert(str(directory / "converted"))
    encoder = ctranslate2.Encoder(str(directory / "converted"), device="cpu", compute_type={"f32": "float32", "int8": "int8"}[kind], inter_threads=1, intra_threads=threads)

    def embed(batch):
        states = numpy.array(encoder.forward_batch(batch).last_hidden_state)
        return pooled(states, padded(batch)[1])

    return embed


def main():
    peer, kinds, case, *threads = sys.argv[1:]
    with open(case) as file:
        head = json.loads(next(file))
        documents = [json.loads(line)["ids"] for line in file]
    tokens, batches = sum(map(len, documents)), batches_of(documents)
    for kind in kinds.split(","):
        for count in map(int, threads):
            embed = {"pytorch": pytorch, "onnxruntime": onnxruntime, "ctranslate2": ctranslate2}[peer](head, kind, count)
            embed(batches[0])
            seconds = []
            for _ in range(3):
                began = time.perf_counter()
                for batch in batches:
                    embed(batch)
                seconds.append(time.perf_counter() - began)
            print(json.dumps({"case": f"minilm, {kind}", "threads": count, "value": tokens / sorted(seconds)[1], "unit": "tokens/s"}),
                  flush=True)


if __name__ == "__main__":
    main()
