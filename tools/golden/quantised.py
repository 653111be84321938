#!/usr/bin/env python3
"""Goldens of block-quantised formats: random blocks and the numbers that the `gguf` package reads from them.

usage: quantised.py tests/golden/quantised/blocks.json [libggml-base.so]     (needs: gguf, numpy)

Every byte of a block is random but those of its half-precision scales, which are finite. Numbers are kept as the bits
of their f32: equality is exact. "errors" are the roots of mean squared differences that the package's quantisers leave
on data that kernels/cpu/quantise_test.cpp makes, too; with llama.cpp's library those of the formats with K as well (without it
they are kept as the file has them).
"""
import ctypes
import json
import math
import pathlib
import sys

import numpy as np
from gguf import GGMLQuantizationType, quants

BLOCKS = 3
COUNT = 16384
# Where a block's half-precision numbers are.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}
SIZES = {"Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34, "Q2_K": 84, "Q3_K": 110, "Q4_K": 144, "Q5_K": 176,
         "Q6_K": 210, "IQ4_NL": 18, "IQ4_XS": 136}


def uniform_values():
    state = 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield ((state >> 11) + 0.5) / 2.0**53


def normals():
    u = uniform_values()
    while True:
        yield math.sqrt(-2 * math.log(next(u))) * math.cos(2 * math.pi * next(u))


def normal_values(count):
    n = normals()
    return np.array([next(n) for _ in range(count)], dtype=np.float32)


def heavy_values(count):
    """Student's t of 3 degrees of freedom."""
    n = normals()
    return np.array([next(n) / math.sqrt(sum(next(n)**2 for _ in range(3)) / 3) for _ in range(count)], dtype=np.float32)


def rms(y, x):
    return float(np.sqrt(np.mean((y.reshape(-1).astype(np.float64) - x) ** 2)))


def main():
    random = np.random.default_rng(20)
    formats = {}
    for name, size in SIZES.items():
        blocks = random.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
        for at in HALVES[name]:
            # A normal number of either sign, a small one, and a subnormal one.
            values = np.array([random.normal(), 1e-3, 3e-7], dtype=np.float16)
            blocks[:, at:at + 2] = values.view(np.uint8).reshape(BLOCKS, 2)
        values = quants.dequantize(blocks.reshape(1, -1), GGMLQuantizationType[name]).astype(np.float32).reshape(-1)
        formats[name.lower()] = {"bytes": blocks.tobytes().hex(), "bits": values.view(np.uint32).tobytes().hex()}
    errors = {}
    data = {"normal": normal_values(COUNT), "heavy": heavy_values(COUNT)}
    for name in ("Q8_0", "Q4_0", "Q4_1"):
        for kind, x in data.items():
            y = quants.dequantize(quants.quantize(x, GGMLQuantizationType[name]), GGMLQuantizationType[name])
            errors[f"{name.lower()} {kind}"] = rms(y, x)
    if len(sys.argv) > 2:
        ggml = ctypes.CDLL(sys.argv[2])
        ggml.ggml_quantize_chunk.restype = ctypes.c_size_t
        for name in ("Q4_K", "Q5_K", "Q6_K"):
            for kind, x in data.items():
                packed = np.zeros(COUNT // 256 * SIZES[name], dtype=np.uint8)
                ggml.ggml_quantize_chunk(ctypes.c_int(int(GGMLQuantizationType[name])), x.ctypes.data_as(ctypes.c_void_p),
                                         packed.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(0), ctypes.c_int64(1),
                                         ctypes.c_int64(COUNT), None)
                y = quants.dequantize(packed.reshape(1, -1), GGMLQuantizationType[name])
                errors[f"{name.lower()} {kind}"] = rms(y, x)
    elif pathlib.Path(sys.argv[1]).exists():
        old = json.loads(pathlib.Path(sys.argv[1]).read_text())["errors"]
        errors.update({key: value for key, value in old.items() if key not in errors})
    with open(sys.argv[1], "w") as out:
        json.dump({"formats": formats, "count": COUNT, "errors": errors}, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
