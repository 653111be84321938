#!/usr/bin/env python3
"""Writes tests/golden/checkpoint/ with the Python safetensors library (0.8) and PyTorch: what Attune must read as they do, and,
for the files that it can write itself, must write byte for byte.

usage: python tools/golden/safetensors_files.py
"""
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

OUTPUT = Path(__file__).resolve().parents[2] / "tests" / "golden" / "checkpoint"


def tensors():
    """Small whole numbers that every type holds exactly, so that the test can state them."""
    count = torch.arange(6)
    named = {
        "a.f64": (count - 2).to(torch.float64).reshape(2, 3),
        "b.f32": (count * 0.5).to(torch.float32).reshape(3, 2),
        "c.f16": (count * 0.25).to(torch.float16),
        "d.bf16": (count - 3).to(torch.bfloat16).reshape(1, 6),
        "e.i64": (count * 1_000_000_007).to(torch.int64),
        "f.i32": (count - 100_000).to(torch.int32),
        "g.i8": (count - 3).to(torch.int8),
        "h.u8": (count + 250).to(torch.uint8),
        "empty": torch.zeros(0, 4),
        "scalar": torch.tensor(3.5),
        "größe ✓": torch.tensor([1.0, 2.0]),
    }
    return named


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    all_types = tensors()
    save_file(all_types, OUTPUT / "all_types.safetensors", metadata={"format": "pt"})
    save_file({"mask": torch.tensor([True, False, True]), "w": torch.tensor([1.0])}, OUTPUT / "bool.safetensors")

    sharded = OUTPUT / "sharded"
    sharded.mkdir(exist_ok=True)
    shards = [("model-00001-of-00002.safetensors", ["a.f64", "b.f32"]), ("model-00002-of-00002.safetensors", ["e.i64"])]
    weight_map, total = {}, 0
    for file, names in shards:
        save_file({name: all_types[name] for name in names}, sharded / file, metadata={"format": "pt"})
        weight_map.update({name: file for name in names})
        total += sum(all_types[name].nbytes for name in names)
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (sharded / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


if __name__ == "__main__":
    main()
