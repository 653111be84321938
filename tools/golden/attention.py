#!/usr/bin/env python3
"""Goldens of attention: every mask of ops/attention_masks.h with every score change of ops/attention_scores.h, by plain PyTorch.

usage: tools/golden/attention.py     writes tests/golden/attention/*.safetensors

Needs torch, transformers and safetensors (tools/golden/requirements.txt) in an environment of its own. The scores are materialised in
float64, masked, put through a softmax and multiplied with v; autograd gives the gradients. Masks are written from the definitions of
the papers, score changes with the functions that transformers' models use where it has them, and `check_against_transformers` holds
the formula itself against those models. inputs.safetensors holds q, k, v, dy and what the changes learn; CHANGE.safetensors holds for
each mask "MASK/y" and "MASK/NAME" for the gradient of NAME. To be small, what is kept is contracted: y over the width of a head, to
[queries, heads], and gradients over all but their first dimension, with the random vectors "contract/NAME" of the inputs.
"""
import math
import pathlib
import types

import torch
from safetensors.torch import save_file
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention, build_relative_position
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.swin.modeling_swin import SwinRelativePositionBias
from transformers.models.t5.modeling_t5 import T5Attention

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "attention"
QUERIES, KEYS, FIRST = [66, 5, 3], [66, 5, 9], [0, 0, 4]  # the third continues: its queries stand at positions 4 to 6 of 9
HEADS, KV_HEADS, WIDTH, VALUE_WIDTH = 4, 2, 8, 6
HEIGHT, BREADTH = 6, 11  # of Swin's window
SPAN = 8  # of DeBERTa's


# Masks: (query positions [q, 1], keys [1, k], sequence, keys of the sequence) -> whether the query sees the key.
def window(i, j, left, right):
    return (j >= i - left) & (j <= i + right)


def bigbird(i, j, count, block, window_blocks, global_blocks):  # without random blocks, whose drawing is each program's own
    a, b, blocks = i // block, j // block, -(-count // block)
    is_global = lambda x: (x < global_blocks) | (x >= blocks - global_blocks)
    return ((a - b).abs() <= window_blocks // 2) | is_global(a) | is_global(b)


PARENTS = [-1] + [(t - 1) // 3 if t % 5 else t - 1 for t in range(1, 66)]
KINDS = [[(t // 7) % 3 for t in range(66)], [0, 1, 2, 2, 0], [2, 2, 2, 0, 0, 1, 2, 1, 0]]
TABLE = torch.tensor([[True, False, True], [True, True, False], [False, False, False]])  # kind 2 sees nothing
DOCUMENTS = [t // 17 + (t // 31) * 10 for t in range(66)]


def tree(i, j):
    ancestors = torch.zeros(66, 66, dtype=torch.bool)
    for token in range(len(PARENTS)):
        at = token
        while at >= 0:
            ancestors[token, at] = True
            at = PARENTS[at]
    return ancestors[i, j]


MASKS = {
    "bidirectional": lambda i, j, s, n: (j >= 0) & (i == i),
    "causal": lambda i, j, s, n: j <= i,
    "window": lambda i, j, s, n: window(i, j, 9, 3),
    "dilated": lambda i, j, s, n: window(i, j, 12, 6) & ((j - i) % 3 == 0),  # 4 before and 2 after, at multiples of 3
    "strided": lambda i, j, s, n: (j <= i) & ((j >= i - 7) | ((i - j) % 7 == 0)),  # both heads of the paper
    "first_keys": lambda i, j, s, n: (j < 4) & (i == i),
    "prefix": lambda i, j, s, n: (j < [20, 2, 6][s]) | (j <= i),
    "documents": lambda i, j, s, n: torch.tensor(DOCUMENTS)[i] == torch.tensor(DOCUMENTS)[j],
    "global_tokens": lambda i, j, s, n: (i < 2) | (j < 2),
    "longformer": lambda i, j, s, n: window(i, j, 5, 5) | (i < 2) | (j < 2),
    "bigbird": lambda i, j, s, n: bigbird(i, j, n, block=8, window_blocks=3, global_blocks=1),
    # A decoder's: the first blocks alone are global, and the end of the sequence is nowhere in it.
    "causal_bigbird": lambda i, j, s, n: (j <= i) & (((i // 8 - j // 8) < 2) | (i // 8 < 1) | (j // 8 < 1)),
    "tree": lambda i, j, s, n: tree(i, j),
    "cross_modal": lambda i, j, s, n: TABLE[torch.tensor(KINDS[s])[i], torch.tensor(KINDS[s])[j]],
    "where": lambda i, j, s, n: ((i * 7 + j * 3 + s) % 5 < 2) & (i % 11 != 3),
    "causal_window_or_first": lambda i, j, s, n: (j <= i) & window(i, j, 16, 0) | (j < 4),
}


def t5(distance):
    return T5Attention._relative_position_bucket(distance, bidirectional=True, num_buckets=16, max_distance=48)


def shaw(distance):
    return distance.clamp(-5, 5) + 5


def deberta(distance):
    """build_relative_position takes whole sequences: of as many as reach the largest distance, the rows that are wanted."""
    reach = int(distance.abs().max()) + 1
    whole = build_relative_position(torch.zeros(reach, 1), torch.zeros(reach, 1), 2 * SPAN, 40)[0]  # [query, key]
    behind = whole[torch.arange(reach), 0]  # of query - key = 0, 1, ...
    ahead = whole[0, torch.arange(reach)]
    relative = torch.where(distance <= 0, behind[(-distance).clamp(min=0)], ahead[distance.clamp(min=0)])
    return (relative + SPAN).clamp(0, 2 * SPAN - 1)


def swin_index():
    made = SwinRelativePositionBias.__new__(SwinRelativePositionBias)
    torch.nn.Module.__init__(made)
    made.window_size = (HEIGHT, BREADTH)
    return made._create_relative_position_index()


def slopes():
    """Bloom's bias of the key at position 1 is the slope."""
    return build_alibi_tensor(torch.ones(1, 2), HEADS, torch.float64)[:, 0, 1]


# Score changes: (scores [heads, q, k], q [heads, q, width], k [heads, k, width], scale, positions i, j, what is learned) -> scores.
def alibi(scores, q, k, scale, i, j, t):
    return scores - slopes()[:, None, None] * (j - i).abs()


def distance_bias(scores, q, k, scale, i, j, t):
    return scores + t["t5_table"][t5(j - i)].permute(2, 0, 1)


def relative_keys(scores, q, k, scale, i, j, t):
    return scores + scale * torch.einsum("hqd,qkd->hqk", q, t["shaw_table"][shaw(j - i)])


def disentangled(scores, q, k, scale, i, j, t):
    buckets = deberta(j - i)
    c2p = torch.einsum("hqd,qkhd->hqk", q, t["c2p_table"][buckets])
    p2c = torch.einsum("hkd,qkhd->hqk", k, t["p2c_table"][buckets])
    return scores + scale * (c2p + p2c)


def soft_cap(scores, q, k, scale, i, j, t):
    return 1.5 * torch.tanh(scores / 1.5)


CHANGES = {  # name -> (the change, what it learns, the scale)
    "none": (lambda scores, *_: scores, [], None),
    "soft_cap": (soft_cap, [], None),
    "alibi": (alibi, [], None),
    "distance_bias": (distance_bias, ["t5_table"], None),
    "relative_keys": (relative_keys, ["shaw_table"], None),
    "deberta": (disentangled, ["c2p_table", "p2c_table"], 1 / math.sqrt(3 * WIDTH)),
    "pair_bias": (lambda scores, q, k, scale, i, j, t: scores + t["pair_table"][:, i[:, 0]][:, :, j[0]], ["pair_table"], None),
    "window_bias": (lambda scores, q, k, scale, i, j, t: scores + t["swin_table"][swin_index()[i, j]].permute(2, 0, 1), ["swin_table"], None),
    "sinks": (lambda scores, *_: scores, ["sinks"], None),
    "all": (lambda *a: distance_bias(alibi(soft_cap(*a), *a[1:]), *a[1:]), ["t5_table", "sinks"], 0.6),
}


def attend(q, k, v, sees, change, scale, positions, learned):
    """One sequence: q [q, heads, width], k and v [k, kv_heads, ...] -> [q, heads, value_width]."""
    group = q.shape[1] // k.shape[1]
    q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = change(scale * q @ k.transpose(1, 2), q, k, scale, *positions, learned)
    scores = scores.masked_fill(~sees, -math.inf)
    if "sinks" in learned:
        scores = torch.cat([scores, learned["sinks"][:, None, None].expand(-1, scores.shape[1], 1)], -1)
    nothing = ~sees.any(-1)[:, None]  # rows that see no key are 0, and so are their gradients
    weights = torch.softmax(scores.masked_fill(nothing, 0), -1).masked_fill(nothing, 0)[..., : sees.shape[1]]
    return (weights @ v).transpose(0, 1)


def batch(inputs, mask, change):
    change, names, scale = CHANGES[change]
    learned = {name: inputs[name] for name in names}
    rows, q_at, k_at = [], 0, 0
    for s, (queries, keys, first) in enumerate(zip(QUERIES, KEYS, FIRST)):
        positions = torch.arange(first, first + queries)[:, None], torch.arange(keys)[None, :]
        q, k, v = inputs["q"][q_at : q_at + queries], inputs["k"][k_at : k_at + keys], inputs["v"][k_at : k_at + keys]
        sees = MASKS[mask](*positions, s, keys)
        rows.append(attend(q, k, v, sees, change, scale or 1 / math.sqrt(WIDTH), positions, learned))
        q_at, k_at = q_at + queries, k_at + keys
    return torch.cat(rows), names


def make_inputs():
    generator = torch.Generator().manual_seed(11)
    draw = lambda scale, *shape: (torch.randn(shape, generator=generator) * scale).to(torch.float32)
    tensors = {
        "q": draw(1, sum(QUERIES), HEADS, WIDTH),
        "k": draw(1, sum(KEYS), HEADS, WIDTH),  # changes but DeBERTa's use the first KV_HEADS
        "v": draw(1, sum(KEYS), HEADS, VALUE_WIDTH),
        "dy": draw(1, sum(QUERIES), HEADS, VALUE_WIDTH),
        "t5_table": draw(0.7, 16, HEADS),
        "shaw_table": draw(0.7, 11, WIDTH),
        "c2p_table": draw(0.7, 2 * SPAN, HEADS, WIDTH),
        "p2c_table": draw(0.7, 2 * SPAN, HEADS, WIDTH),
        "pair_table": draw(0.7, HEADS, 66, 66),
        "swin_table": draw(0.7, (2 * HEIGHT - 1) * (2 * BREADTH - 1), HEADS),
        "sinks": draw(1, HEADS),
    }
    for name, tensor in list(tensors.items()):
        if name != "dy":
            tensors["contract/" + name] = draw(1, max(1, tensor[0].numel()))
    tensors["contract/y"] = draw(1, VALUE_WIDTH)
    return tensors


def contracted(name, x, tensors):
    return (x.reshape(x.shape[0], -1) @ tensors["contract/" + name].double()[: x[0].numel()]).to(torch.float32)


def cell(tensors, mask, change):
    kv_heads = HEADS if change == "deberta" else KV_HEADS
    inputs = {name: tensor.double() for name, tensor in tensors.items()}
    inputs["k"], inputs["v"] = inputs["k"][:, :kv_heads], inputs["v"][:, :kv_heads]
    inputs = {name: tensor.clone().requires_grad_() for name, tensor in inputs.items()}
    y, names = batch(inputs, mask, change)
    y.backward(inputs["dy"].detach())
    kept = {"y": (y.detach() @ tensors["contract/y"].double()).to(torch.float32)}
    for name in ["q", "k", "v", *names]:
        assert inputs[name].grad.isfinite().all(), (mask, change, name)
        kept[name] = contracted(name, inputs[name].grad, tensors)
    return {f"{mask}/{name}": tensor.contiguous() for name, tensor in kept.items()}


def check_against_transformers(tensors):
    """The first sequence, causal: what these models compute with their own code."""
    n = QUERIES[0]
    q, k, v = (tensors[name][:n].double() for name in "qkv")
    i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    sees = j <= i
    mask = torch.where(sees, 0.0, -math.inf).double()
    scale = 1 / math.sqrt(WIDTH)
    heads_first = lambda x: x.transpose(0, 1)[None]

    def expect_same(name, ours, theirs, tolerance):
        difference = (ours - theirs).abs().max().item()
        assert difference < tolerance, (name, difference)
        print(f"{name}: {difference:.1e}")

    module = types.SimpleNamespace(num_key_value_groups=2, training=False, sinks=tensors["sinks"].double())
    few = heads_first(q), heads_first(k[:, :KV_HEADS]), heads_first(v[:, :KV_HEADS])
    theirs = modeling_gemma2.eager_attention_forward(module, *few, mask, scaling=scale, softcap=1.5)[0][0]
    expect_same("Gemma 2", attend(q, k[:, :2], v[:, :2], sees, soft_cap, scale, (i, j), {}), theirs, 1e-5)  # its softmax is f32
    theirs = modeling_gpt_oss.eager_attention_forward(module, *few, mask, scaling=scale)[0][0]
    ours = attend(q, k[:, :2], v[:, :2], sees, CHANGES["none"][0], scale, (i, j), {"sinks": module.sinks})
    expect_same("gpt-oss", ours, theirs, 1e-12)

    # DeBERTa's bias with identities for projections: rel_embeddings are then the tables of all heads side by side.
    tables = {name: tensors[name].double() for name in ("c2p_table", "p2c_table")}
    split = lambda x, heads: x.view(x.shape[0], x.shape[1], heads, -1).permute(0, 2, 1, 3).reshape(heads, x.shape[1], -1)
    flat = {name: table.reshape(2 * SPAN, -1) for name, table in tables.items()}
    model = types.SimpleNamespace(
        pos_ebd_size=SPAN, share_att_key=False, pos_att_type=["c2p", "p2c"], num_attention_heads=HEADS, position_buckets=2 * SPAN,
        max_relative_positions=40, transpose_for_scores=split, pos_key_proj=lambda _: flat["c2p_table"][None],
        pos_query_proj=lambda _: flat["p2c_table"][None])
    by_head = q.transpose(0, 1), k.transpose(0, 1)
    theirs = DisentangledSelfAttention.disentangled_attention_bias(model, *by_head, None, flat["c2p_table"], 3)
    ours = disentangled(0, *by_head, CHANGES["deberta"][2], i, j, tables)
    expect_same("DeBERTa", ours, theirs, 1e-6)  # its scale is f32

    theirs = build_alibi_tensor(torch.ones(1, n), HEADS, torch.float64)  # [heads, 1, keys]: the same but for a row's constant
    ours = alibi(0, None, None, None, i, j, None)
    expect_same("ALiBi", ((ours - theirs) - (ours - theirs)[:, :, :1]).masked_fill(~sees, 0), torch.zeros(()), 1e-6)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tensors = make_inputs()
    check_against_transformers(tensors)
    save_file(tensors, OUTPUT / "inputs.safetensors")
    for change in CHANGES:
        kept = {}
        for mask in MASKS:
            kept.update(cell(tensors, mask, change))
        save_file(kept, OUTPUT / f"{change}.safetensors")
    sizes = {path.name: path.stat().st_size for path in sorted(OUTPUT.glob("*.safetensors"))}
    print(f"{len(CHANGES)} changes x {len(MASKS)} masks, {sum(sizes.values()) / 1000:.0f} kB: {sizes}")


if __name__ == "__main__":
    main()
