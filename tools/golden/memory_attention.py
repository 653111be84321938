#!/usr/bin/env python3
"""Goldens of the attention families that remember: Transformer-XL, recurrent memory tokens and kNN memory, by plain PyTorch.

usage: tools/golden/memory_attention.py     writes tests/golden/memory_attention/*.safetensors

Needs torch and safetensors (tools/golden/requirements.txt) in an environment of its own. Each is written as its paper describes it
and as its authors' code runs it: Transformer-XL segment by segment with a cache of detached states and the published shift of relative
positions; recurrent memory as a loop over segments of one sequence at a time; kNN memory as two softmaxes over masked scores. All is
computed in float64 from float32 values. A file holds the input x, the weights, dy, what comes out as y, and the gradients.
"""
import math
import pathlib

import torch
from safetensors.torch import save_file

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "memory_attention"
HIDDEN, HEADS, HEAD_DIM = 10, 3, 4
LENGTHS = [11, 5, 1]  # of the sequences, one behind the other


class Golden:
    """Leaves by name, drawn once, and the file that they and their gradients go to."""

    def __init__(self, name, seed):
        self.name, self.leaves, self.random = name, {}, torch.Generator().manual_seed(seed)

    def draw(self, name, *shape, scale=0.3):
        value = (scale * torch.randn(*shape, generator=self.random)).double().requires_grad_()
        self.leaves[name] = value
        return value

    def weights(self, layer, kv_heads):
        q = self.draw(f"{layer}.q.weight", HEADS * HEAD_DIM, HIDDEN)
        k = self.draw(f"{layer}.k.weight", kv_heads * HEAD_DIM, HIDDEN)
        v = self.draw(f"{layer}.v.weight", kv_heads * HEAD_DIM, HIDDEN)
        o = self.draw(f"{layer}.o.weight", HIDDEN, HEADS * HEAD_DIM)
        return q, k, v, o

    def write(self, y):
        dy = torch.randn(*y.shape, generator=self.random).double()
        y.backward(dy)
        out = {"y": y.detach(), "dy": dy}
        for name, leaf in self.leaves.items():
            out[name] = leaf.detach()
            out["gradient/" + name] = leaf.grad
        OUTPUT.mkdir(parents=True, exist_ok=True)
        save_file({k: t.float().contiguous() for k, t in out.items()}, OUTPUT / f"{self.name}.safetensors")


def heads(x, count):
    return x.view(x.shape[0], count, HEAD_DIM)


def sequences(x):
    return torch.split(x, LENGTHS)


# Transformer-XL: RelPartialLearnableMultiHeadAttn and PositionalEmbedding of the published PyTorch code, without norm and dropout.
def positional_embedding(positions):
    frequencies = 1 / (10000 ** (torch.arange(0.0, HIDDEN, 2.0).double() / HIDDEN))
    angles = torch.outer(positions.double(), frequencies)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def rel_shift(x):  # [queries, keys, heads]
    zeros = torch.zeros((x.size(0), 1, *x.size()[2:]), dtype=x.dtype)
    padded = torch.cat([zeros, x], dim=1)
    return padded.view(x.size(1) + 1, x.size(0), *x.size()[2:])[1:].view_as(x)


def transformer_xl(segment=4, memory=6):
    g = Golden("transformer_xl", 1)
    x = g.draw("x", sum(LENGTHS), HIDDEN, scale=1)
    layers = []
    for layer in range(2):
        q, k, v, o = g.weights(layer, HEADS)
        layers.append((q, k, v, o, g.draw(f"{layer}.position.weight", HEADS * HEAD_DIM, HIDDEN),
                       g.draw(f"{layer}.content_bias", HEADS * HEAD_DIM), g.draw(f"{layer}.position_bias", HEADS * HEAD_DIM)))
    outputs = []
    for whole in sequences(x):
        cache = [torch.zeros(0, HIDDEN).double() for _ in layers]
        for part in torch.split(whole, segment):
            state = part
            for layer, (q, k, v, o, r, u, w) in enumerate(layers):
                cat = torch.cat([cache[layer], state])
                cache[layer] = cat[-memory:].detach()
                qlen, klen = state.shape[0], cat.shape[0]
                queries, keys, values = heads(state @ q.T, HEADS), heads(cat @ k.T, HEADS), heads(cat @ v.T, HEADS)
                r_keys = heads(positional_embedding(torch.arange(klen - 1, -1, -1)) @ r.T, HEADS)
                ac = torch.einsum("ind,jnd->ijn", queries + heads(u[None], HEADS), keys)
                bd = rel_shift(torch.einsum("ind,jnd->ijn", queries + heads(w[None], HEADS), r_keys))
                hidden = torch.triu(torch.ones(qlen, klen), diagonal=1 + klen - qlen).bool()[:, :, None]
                probabilities = ((ac + bd) / math.sqrt(HEAD_DIM)).masked_fill(hidden, -math.inf).softmax(dim=1)
                state = state + torch.einsum("ijn,jnd->ind", probabilities, values).reshape(qlen, -1) @ o.T
            outputs.append(state)
    g.write(torch.cat(outputs))


def causal_attention(x, q, k, v, o):
    queries, keys, values = (heads(x @ w.T, HEADS) for w in (q, k, v))
    scores = torch.einsum("ind,jnd->nij", queries, keys) / math.sqrt(HEAD_DIM)
    later = torch.triu(torch.ones(x.shape[0], x.shape[0]), diagonal=1).bool()
    return torch.einsum("nij,jnd->ind", scores.masked_fill(later, -math.inf).softmax(-1), values).reshape(x.shape[0], -1) @ o.T


# Recurrent memory: section 3.2's equations for a decoder, [read; segment; write].
def recurrent_memory(segment=4, tokens=2):
    g = Golden("recurrent_memory", 2)
    x = g.draw("x", sum(LENGTHS), HIDDEN, scale=1)
    begin = g.draw("0.memory", tokens, HIDDEN)
    layers = [g.weights(layer, HEADS) for layer in range(2)]
    outputs = []
    for whole in sequences(x):
        memory = begin
        for part in torch.split(whole, segment):
            state = torch.cat([memory, part, memory])
            for weights in layers:
                state = state + causal_attention(state, *weights)
            outputs.append(state[tokens:-tokens])
            memory = state[-tokens:]
    g.write(torch.cat(outputs))


# kNN memory: section 3.1 with a window as the local context; the memory holds detached keys and values.
def knn(local=3, neighbours=2):
    g = Golden("knn", 3)
    x = g.draw("x", sum(LENGTHS), HIDDEN, scale=1)
    q, k, v, o = g.weights(0, 1)  # one key head for three query heads
    gate = torch.sigmoid(g.draw("0.memory_gate", HEADS))
    outputs = []
    for whole in sequences(x):
        n = whole.shape[0]
        queries, keys, values = heads(whole @ q.T, HEADS), (whole @ k.T), (whole @ v.T)
        distance = torch.arange(n)[:, None] - torch.arange(n)[None, :]
        scores = torch.einsum("ind,jd->nij", queries, keys) / math.sqrt(HEAD_DIM)
        near = scores.masked_fill((distance < 0) | (distance >= local), -math.inf).softmax(-1)
        y_local = torch.einsum("nij,jd->ind", near, values)
        far = torch.einsum("ind,jd->nij", queries, keys.detach()) / math.sqrt(HEAD_DIM)
        far = far.masked_fill(distance < local, -math.inf)
        kept = torch.full_like(far, -math.inf)
        for head in range(HEADS):
            for i in range(n):
                best = far[head, i].topk(min(neighbours, n)).indices
                best = best[far[head, i, best] > -math.inf]
                kept[head, i, best] = far[head, i, best]
        found = (kept > -math.inf).any(-1)  # [heads, queries]
        weights = torch.where(found[..., None], kept, torch.zeros_like(kept)).softmax(-1)
        y_memory = torch.einsum("nij,jd->ind", weights, values.detach())
        open_gate = (gate[:, None] * found).T[..., None]
        outputs.append((open_gate * y_memory + (1 - open_gate) * y_local).reshape(n, -1) @ o.T)
    g.write(torch.cat(outputs))


if __name__ == "__main__":
    transformer_xl()
    recurrent_memory()
    knn()
