#!/usr/bin/env python3
"""Goldens of Nystromformer's attention: Hugging Face transformers' NystromformerSelfAttention, forward and gradients.

usage: tools/golden/low_rank_attention.py     writes tests/golden/attention_families/nystromformer.safetensors

Needs torch and transformers (tools/golden/requirements.txt). q, k and v are what the module's random projections give. The first guess
of the inverse is the exact one, by head (`init_option` "exact": the other takes the largest sum of a whole batch). In f64, rounded to f32.
"""
import pathlib

import torch
from safetensors.torch import save_file
from transformers.models.nystromformer.modeling_nystromformer import NystromformerConfig, NystromformerSelfAttention

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "attention_families"
HEADS, HEAD_DIM = 2, 8
CASES = {"plain": (24, 6, None), "convolution": (24, 6, 5), "one_landmark": (10, 1, 3), "exact": (12, 12, None)}


def case(length, landmarks, convolution, seed):
    torch.manual_seed(seed)
    width = HEADS * HEAD_DIM
    config = NystromformerConfig(hidden_size=width, num_attention_heads=HEADS, num_landmarks=landmarks,
                                 segment_means_seq_len=length, conv_kernel_size=convolution or 1,
                                 attention_probs_dropout_prob=0.0)
    module = NystromformerSelfAttention(config).double()
    module.conv_kernel_size = convolution  # the config takes no None, the module does
    module.init_option = "exact"
    x = torch.randn(1, length, width, dtype=torch.float64)
    tensors = {}
    for name in ("query", "key", "value"):
        layer = getattr(module, name)
        torch.nn.init.normal_(layer.weight, std=0.7 if name != "value" else 0.3)
        torch.nn.init.zeros_(layer.bias)
        layer.register_forward_hook(lambda _, __, y, name=name: (y.retain_grad(), tensors.__setitem__(name, y))[0])
    y = module(x.requires_grad_())[0]
    dy = torch.randn_like(y)
    y.backward(dy)
    result = {"y": y, "dy": dy}
    for name in ("query", "key", "value"):
        result[name], result["d" + name] = tensors[name], tensors[name].grad
    result = {name: t.detach().reshape(length, HEADS, HEAD_DIM) for name, t in result.items()}
    if convolution is not None:
        result["filters"] = module.conv.weight.detach().reshape(HEADS, convolution)
        result["dfilters"] = module.conv.weight.grad.reshape(HEADS, convolution)
    return {name: t.contiguous().float() for name, t in result.items()}


def main():
    GOLDEN.mkdir(exist_ok=True)
    everything = {}
    for seed, (name, (length, landmarks, convolution)) in enumerate(CASES.items()):
        for key, tensor in case(length, landmarks, convolution, seed).items():
            everything[f"{name}/{key}"] = tensor
        everything[f"{name}/landmarks"] = torch.tensor(landmarks)
    save_file(everything, GOLDEN / "nystromformer.safetensors")


main()
