#!/usr/bin/env python3
"""Peers of `attune bench attention`: the same cases with PyTorch, on random numbers of the same shapes.

As a program: attention.py PEER CASES.jsonl THREADS... runs the cases that PEER can, and prints a JSON line each. Cases whose memory is
measured get a process of their own, and their memory is what one call adds to what the process holds with the inputs (VmHWM, MB).
attention.py --check compares the peers with one another on small sizes.

sdpa        scaled_dot_product_attention, batch 1: causal or without mask. Windows and Longformer's pattern: a boolean mask, made before,
            up to 4,096 tokens (at 16,384 a call takes minutes).
            Score changes: the bias is given as a mask of floats. T5's and DeBERTa's are made of their tables in each call (a T5
            shares its one among its layers), ALiBi's by the first.
padded      ragged sequences: padded to the longest, SDPA with a boolean mask
nested      ragged sequences: nested tensors (jagged) and SDPA
longformer  transformers' LongformerSelfAttention, its projections replaced by what they give
flex        flex_attention, compiled, with a block mask; forward only, which is what it has on CPUs
"""
import ctypes
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

SIDE = {"window": (128, 0), "longformer": (256, 16)}  # keys on each side, global tokens
PEERS = {
    "sdpa": lambda c: len(c["lengths"]) == 1 and not (c["mask"] in SIDE and c["lengths"][0] > 4096),
    "padded": lambda c: len(c["lengths"]) > 1,
    "nested": lambda c: len(c["lengths"]) > 1,
    "longformer": lambda c: c["mask"] in SIDE,
    "flex": lambda c: c["mask"] in SIDE and not c["backward"],
}


def present(root, own, attune):
    python = root / "bench" / "peers" / "venv" / "bin" / "python"
    if not python.exists():
        print("PyTorch is missing: run bench/setup_peers python", file=sys.stderr)
        return []
    present.data = tempfile.TemporaryDirectory(prefix="attune-attention-")  # lives as long as the comparison
    directory = pathlib.Path(present.data.name) / "cases"
    subprocess.run([attune, "bench", "attention", "--export", directory], check=True)
    wanted = {line["case"].removesuffix(", memory") for line in own}
    cases = [line for line in open(directory / "cases.jsonl") if json.loads(line)["case"] in wanted]
    path = pathlib.Path(present.data.name) / "wanted.jsonl"
    path.write_text("".join(cases))
    threads = [str(n) for n in sorted({line["threads"] for line in own})]
    can = lambda name: any(PEERS[name](json.loads(line)) and not too_long(json.loads(line)) for line in cases)
    return [(name, [python, __file__, name, path, *threads], dict(os.environ)) for name in PEERS if can(name)]


def too_long(case):
    return case["operations"] > 5e12  # 131,072 tokens: beside the machine's limit alone


def memory_mb(field):
    for line in open("/proc/self/status"):
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024e-6
    raise RuntimeError(f"no {field} in /proc/self/status")


def inputs_of(case, seed=1):
    """q, k, v and dy: [tokens, heads, head_dim]"""
    import torch

    generator = torch.Generator().manual_seed(seed)
    shape = sum(case["lengths"]), case["heads"], case["head_dim"]
    q, k, v, dy = (torch.rand(shape, generator=generator) * 2 - 1 for _ in range(4))
    return q, k, v, dy


def sees(case, i, j):
    side, first = SIDE[case["mask"]]
    return ((i - j).abs() <= side) | (i < first) | (j < first)


def batched(x):
    return x.transpose(0, 1)[None]  # [1, heads, tokens, head_dim]


def sdpa(case):
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attend

    n, heads, dim = case["lengths"][0], case["heads"], case["head_dim"]
    place = torch.arange(n)
    distance = place[None, :] - place[:, None]  # key - query
    causal = case["mask"] == "causal"
    table = lambda *shape: (torch.rand(shape) * 2 - 1).requires_grad_(case["backward"])
    options, learned = {"is_causal": causal}, []
    bias = lambda q, k: None
    if case["mask"] in SIDE:
        mask = sees(case, place[:, None], place[None, :])
        bias, options = lambda q, k: mask, {}
    elif case["scores"] == "t5":
        from transformers.models.t5.modeling_t5 import T5Attention

        buckets, learned, options = T5Attention._relative_position_bucket(distance), [table(32, heads)], {}
        bias = lambda q, k: learned[0][buckets].permute(2, 0, 1)[None]
    elif case["scores"] == "alibi":
        slopes = torch.tensor([2 ** (-8 * h / heads) for h in range(1, heads + 1)])
        made = []  # by the first call, which is the one whose memory is measured; then kept, as a model's layers share it

        def bias(q, k):
            if not made:
                made.append((slopes[:, None, None] * distance).masked_fill_(distance > 0, -math.inf)[None])
            return made[0]

        options = {}
    elif case["scores"] == "deberta":
        from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position

        buckets = (build_relative_position(place[:, None], place[:, None], 256, 512) + 256).clamp(0, 511)  # [1, q, k]
        learned, scale = [table(heads, 512, dim), table(heads, 512, dim)], 1 / math.sqrt(3 * dim)
        options = {"scale": scale}

        def bias(q, k):
            c2p = torch.gather(q[0] @ learned[0].transpose(1, 2), 2, buckets.expand(heads, n, n))
            p2c = torch.gather(k[0] @ learned[1].transpose(1, 2), 2, buckets.transpose(1, 2).expand(heads, n, n))
            return (scale * (c2p + p2c.transpose(1, 2)))[None]

    return lambda q, k, v: attend(batched(q), batched(k), batched(v), attn_mask=bias(batched(q), batched(k)), **options), learned


def unbatched(y):
    return y[0].transpose(0, 1)


def padded(case):
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attend
    from torch.nn.utils.rnn import pad_sequence

    lengths = torch.tensor(case["lengths"])
    mask = (torch.arange(int(lengths.max())) < lengths[:, None])[:, None, None, :]
    rows = lambda x: pad_sequence(x.split(case["lengths"]), batch_first=True).transpose(1, 2).contiguous()
    prepare = lambda q, k, v, dy: tuple(rows(x) for x in (q, k, v, dy))  # a padded model has its rows so
    return lambda q, k, v: attend(q, k, v, attn_mask=mask), [], prepare


def nested(case):
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attend

    offsets = torch.tensor([0, *case["lengths"]]).cumsum(0)
    make = lambda x: torch.nested.nested_tensor_from_jagged(x, offsets, max_seqlen=max(case["lengths"]))
    heads_first = lambda x: make(x).transpose(1, 2)
    return lambda q, k, v: attend(*map(heads_first, (q, k, v))).transpose(1, 2).values(), []


def longformer(case):
    import torch
    from transformers import LongformerConfig
    from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

    class Given(torch.nn.Module):
        rows = None

        def forward(self, hidden):
            return self.rows

    class Copied(torch.nn.Module):
        def forward(self, hidden):
            return hidden.clone()  # what a projection gives is scaled in place

    n, width = case["lengths"][0], case["heads"] * case["head_dim"]
    side, first = SIDE[case["mask"]]
    config = LongformerConfig(hidden_size=width, num_attention_heads=case["heads"], attention_window=[2 * side], attention_probs_dropout_prob=0)
    module = LongformerSelfAttention(config, 0)
    module.query, module.query_global = Copied(), torch.nn.Identity()
    module.key, module.value = Given(), Given()
    module.key_global, module.value_global = module.key, module.value
    mask = torch.zeros(1, n)
    mask[0, :first] = 10000
    call = {"attention_mask": mask, "is_index_masked": mask < 0, "is_index_global_attn": mask > 0, "is_global_attn": first > 0}

    def attend(q, k, v):
        module.key.rows, module.value.rows = (x.reshape(1, n, width) for x in (k, v))
        return module(q.reshape(1, n, width), **call)[0].reshape(n, case["heads"], -1)

    return attend, []


def flex(case):
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    n = case["lengths"][0]
    side, first = SIDE[case["mask"]]
    blocks = create_block_mask(lambda b, h, i, j: ((i - j).abs() <= side) | (i < first) | (j < first), None, None, n, n, device="cpu")
    compiled = torch.compile(flex_attention, dynamic=False)
    return lambda q, k, v: compiled(batched(q), batched(k), batched(v), block_mask=blocks), []


def work_of(peer, case):
    """A function that does the work once, and gives y."""
    import torch

    made = {"sdpa": sdpa, "padded": padded, "nested": nested, "longformer": longformer, "flex": flex}[peer](case)
    attend, learned = made[:2]
    q, k, v, dy = inputs_of(case)
    if len(made) == 3:
        q, k, v, dy = made[2](q, k, v, dy)
    elif peer in ("sdpa", "flex"):
        dy = batched(dy)
    leaves = [q, k, v, *learned]
    if not case["backward"]:
        def work():
            with torch.no_grad():
                return attend(q, k, v)
    else:
        for x in leaves:
            x.requires_grad_()

        def work():
            y = attend(q, k, v)
            y.backward(dy)
            for x in leaves:
                x.grad = None
            return y.detach()

    return work


def seconds_of(work, operations):
    def once():
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    first = once()
    if operations >= 20e9:
        return once()
    return statistics.median(once() for _ in range(min(max(5, int(0.15 / first)), 1000)))


def run_case(peer, case, threads):
    import torch

    torch.set_num_threads(threads)
    work = work_of(peer, case)
    line = lambda name, value, unit: print(json.dumps({"case": name, "threads": threads, "value": value, "unit": unit}), flush=True)
    if case["memory"]:
        small = dict(case, lengths=[64])
        work_of(peer, small)()  # libraries and threads are there
        ctypes.CDLL(None).malloc_trim(0)
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before = memory_mb("VmRSS")
        work()
        line(case["case"] + ", memory", memory_mb("VmHWM") - before, "MB")
    line(case["case"], case["operations"] / seconds_of(work, case["operations"]) * 1e-9, "GFLOP/s")


def run_all(peer, path, threads):
    warnings.simplefilter("ignore")  # nested tensors call themselves a prototype
    cases = [case for case in map(json.loads, open(path)) if PEERS[peer](case) and not too_long(case)]
    for count in map(int, threads):
        for case in cases:
            if case["memory"] and len(cases) > 1:
                one = pathlib.Path(path).with_suffix(".one.jsonl")
                one.write_text(json.dumps(case) + "\n")
                subprocess.run([sys.executable, __file__, peer, one, str(count)], check=True)
                continue
            try:
                run_case(peer, case, count)
            except Exception as error:  # what a version of PyTorch does not have on CPUs
                print(f"{case['case']}: {type(error).__name__}: {str(error).strip().splitlines()[0][:160]}", file=sys.stderr)


def check():
    def same(case, *peers):
        torch_rows = lambda name, y: unbatched(y) if name in ("sdpa", "flex") else y
        results = [torch_rows(name, work_of(name, case)()) for name in peers]
        for name, y in zip(peers[1:], results[1:]):
            print(f"{case['mask']}: {name} differs from {peers[0]} by {(y - results[0]).abs().max().item():.1e}")

    small = {"heads": 3, "head_dim": 16, "scores": "none", "backward": False}
    for mask, n in {"window": 1024, "longformer": 1536}.items():
        same({"lengths": [n], "mask": mask, **small}, "sdpa", "longformer", "flex")
    ragged = {"lengths": [9, 30, 17], "mask": "bidirectional", **small}
    rows, at = work_of("nested", ragged)(), 0
    for y, n in zip(work_of("padded", ragged)(), ragged["lengths"]):
        print(f"ragged: nested differs from padded by {(y.transpose(0, 1)[:n] - rows[at : at + n]).abs().max().item():.1e}")
        at += n


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    elif len(sys.argv) > 3 and sys.argv[1] in PEERS:
        run_all(sys.argv[1], sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)
