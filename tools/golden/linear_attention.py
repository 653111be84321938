#!/usr/bin/env python3
"""Goldens of the linear-time attention families (src/attune/nn/attention/families): straightforward PyTorch, forward and gradients.

usage: tools/golden/linear_attention.py     writes tests/golden/attention_families/linear.safetensors

Each formula is written as its paper states it, over all pairs of tokens or token by token; nothing is chunked. In f64, rounded to f32.
"""
import math
import pathlib

import torch
from safetensors.torch import save_file

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "attention_families"
TOKENS, HEADS, WIDTH, HIDDEN, RANK, FEATURES = 40, 2, 8, 12, 4, 24
LENGTHS = [23, 17]


def sequences():
    begin = 0
    for length in LENGTHS:
        yield begin, begin + length
        begin += length


def by_pairs(weights, v):
    """weights: [heads, n, n]; v: [n, heads, width]."""
    return torch.einsum("hnm,mhd->nhd", weights, v)


def normalised(weights, v, causal):
    if causal:
        weights = weights.tril()
    return by_pairs(weights / weights.sum(-1, keepdim=True), v)


def linear(q, k, v, causal):
    f = lambda x: torch.nn.functional.elu(x) + 1
    return normalised(torch.einsum("nhd,mhd->hnm", f(q), f(k)), v, causal)


def performer(q, k, v, projection, causal):
    def f(x):
        x = x / q.shape[-1] ** 0.25
        return torch.exp(x @ projection.T - (x * x).sum(-1, keepdim=True) / 2) / math.sqrt(len(projection))

    return normalised(torch.einsum("nhf,mhf->hnm", f(q), f(k)), v, causal)


def turn(x):
    """Complex rotation of neighbouring pairs, as "Retentive network" writes it: q e^(i n theta)."""
    pairs = x.shape[-1] // 2
    theta = 1.0 / 10000 ** torch.linspace(0, 1, pairs, dtype=x.dtype)
    angle = torch.arange(len(x), dtype=x.dtype)[:, None, None] * theta
    y = torch.view_as_complex(x.reshape(*x.shape[:-1], pairs, 2)) * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(y).reshape(x.shape)


def head_norm(x, weight=None, bias=None):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)


def retnet(q, k, v, x, w):
    n = len(q)
    gamma = 1 - 2.0 ** (-5 - torch.arange(HEADS, dtype=q.dtype))
    distance = torch.arange(n)[:, None] - torch.arange(n)[None]
    decay = (gamma[:, None, None] ** distance.clamp(min=0)).tril()
    scores = torch.einsum("nhd,mhd->hnm", turn(q), turn(k)) / math.sqrt(WIDTH)
    gate = torch.nn.functional.silu(x @ w["g_proj.weight"].T).view(n, HEADS, WIDTH)
    return gate * head_norm(by_pairs(scores * decay, v))


def gla(q, k, v, x, w):
    n = len(q)
    logits = x @ w["gk_proj.0.weight"].T @ w["gk_proj.1.weight"].T + w["gk_proj.1.bias"]
    a = torch.sigmoid(logits).view(n, HEADS, WIDTH) ** (1 / 16)
    state, rows = torch.zeros(HEADS, WIDTH, WIDTH, dtype=q.dtype), []
    for t in range(n):
        state = a[t][:, :, None] * state + k[t][:, :, None] * v[t][:, None, :]
        rows.append(torch.einsum("hd,hde->he", q[t], state) / math.sqrt(WIDTH))
    y = head_norm(torch.stack(rows), w["g_norm.weight"], w["g_norm.bias"])
    gate = torch.nn.functional.silu(x @ w["g_proj.weight"].T + w["g_proj.bias"]).view(n, HEADS, WIDTH)
    return gate * y


def main():
    torch.manual_seed(20)
    # Rounded to f32 first, so that both programs begin with the same numbers.
    draw = lambda *shape, scale=1.0: (torch.randn(*shape) * scale).to(torch.float64)
    inputs = {name: draw(TOKENS, HEADS, WIDTH) for name in "qkv"}
    inputs["x"] = draw(TOKENS, HIDDEN)
    dy = draw(TOKENS, HEADS, WIDTH)
    projection = draw(FEATURES, WIDTH)
    retnet_weights = {"g_proj.weight": draw(HEADS * WIDTH, HIDDEN, scale=0.5)}
    gla_weights = {
        "gk_proj.0.weight": draw(RANK, HIDDEN, scale=0.5),
        "gk_proj.1.weight": draw(HEADS * WIDTH, RANK),
        "gk_proj.1.bias": draw(HEADS * WIDTH),
        "g_proj.weight": draw(HEADS * WIDTH, HIDDEN, scale=0.5),
        "g_proj.bias": draw(HEADS * WIDTH),
        "g_norm.weight": 1 + draw(WIDTH, scale=0.2),
        "g_norm.bias": draw(WIDTH, scale=0.2),
    }
    cases = {
        "linear.causal": ({}, lambda i, w: linear(i["q"], i["k"], i["v"], True)),
        "linear.whole": ({}, lambda i, w: linear(i["q"], i["k"], i["v"], False)),
        "performer.causal": ({}, lambda i, w: performer(i["q"], i["k"], i["v"], projection, True)),
        "performer.whole": ({}, lambda i, w: performer(i["q"], i["k"], i["v"], projection, False)),
        "retnet": (retnet_weights, lambda i, w: retnet(i["q"], i["k"], i["v"], i["x"], w)),
        "gla": (gla_weights, lambda i, w: gla(i["q"], i["k"], i["v"], i["x"], w)),
    }
    out = {f"inputs.{name}": value for name, value in inputs.items()}
    out |= {"dy": dy, "projection": projection}
    for name, (weights, run) in cases.items():
        leaves = {n: t.clone().requires_grad_() for n, t in inputs.items()}
        parameters = {n: t.clone().requires_grad_() for n, t in weights.items()}
        y = torch.cat([run({n: t[b:e] for n, t in leaves.items()}, parameters) for b, e in sequences()])
        y.backward(dy)
        out[f"{name}.y"] = y.detach()
        out |= {f"{name}.d{n}": t.grad for n, t in leaves.items() if t.grad is not None}
        out |= {f"{name}.{n}": t for n, t in weights.items()}
        out |= {f"{name}.{n}.gradient": t.grad for n, t in parameters.items()}
    out = {n: t.to(torch.float32).contiguous() for n, t in out.items()}
    save_file(out, GOLDEN / "linear.safetensors", {"lengths": " ".join(map(str, LENGTHS))})


if __name__ == "__main__":
    main()
