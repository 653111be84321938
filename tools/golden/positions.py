#!/usr/bin/env python3
"""Writes tests/golden/positions/*.json: what PyTorch and transformers compute for every position method.

Needs torch and transformers (requirements.txt). usage: tools/golden/positions.py [output directory]
"""
import itertools
import json
import sys
import types
from pathlib import Path

import torch
import torch.nn.functional as F
import transformers.modeling_rope_utils as rope_utils
from transformers import DebertaV2Config, LlamaConfig, T5Config
from transformers.models.bloom.modeling_bloom import _get_alibi_slopes, build_alibi_tensor
from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention, build_relative_position
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as turn_interleaved
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as turn_halves
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.phi.modeling_phi import PhiRotaryEmbedding
from transformers.models.qwen2_5_omni.modeling_qwen2_5_omni import Qwen2_5OmniPreTrainedModelForConditionalGeneration as Omni
from transformers.models.qwen2_vl.modeling_qwen2_vl import (Qwen2VLModel, Qwen2VLRotaryEmbedding,
                                                            Qwen2VLVisionRotaryEmbedding)
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.vit_mae.modeling_vit_mae import build_2d_sinusoidal_position_embedding
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import _apply_relative_key_position_encoding
from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings
from transformers.vision_utils import get_vision_position_ids


def plain(x):
    """A tensor as nested lists of numbers, short ones that read back to the same f32."""
    def short(value):
        return [short(v) for v in value] if isinstance(value, list) else float(f"{value:.9g}") if isinstance(value, float) else value
    return short(x.detach().tolist())


def changes(row):
    """[place, value] where a row's value differs from that before."""
    row = plain(row)
    return [[i, v] for i, v in enumerate(row) if i == 0 or v != row[i - 1]]


def shaped(x):
    return {"shape": list(x.shape), "values": plain(x.flatten())}


# --- relative positions -------------------------------------------------------------------------------------------

def buckets():
    reach = 700
    distances = torch.arange(-reach, reach + 1)
    cases = []
    for clip in (0, 1, 16, 64):
        cases.append({"kind": "shaw", "clip": clip, "buckets": changes(distances.clamp(-clip, clip) + clip)})
    for count, longest, both in itertools.product((4, 8, 32, 33, 64), (20, 128, 500), (True, False)):
        if longest > count:
            found = T5Attention._relative_position_bucket(distances, both, count, longest)
            cases.append({"kind": "t5", "count": count, "longest": longest, "both_ways": both, "buckets": changes(found)})
    queries = torch.empty(reach + 1, 1)
    for span, count, longest in ((256, 256, 512), (32, 32, 64), (8, 8, 300), (24, -1, 24), (4, 4, 40)):
        relative = build_relative_position(queries, queries, count, longest)[0]  # [query, key] of query - key
        # From distance -reach (last query, first key) to reach (first query, last key).
        row = torch.cat([relative[-1, :-1], relative[0]])
        cases.append({"kind": "deberta", "span": span, "count": count, "longest": longest,
                      "buckets": changes((row + span).clamp(0, 2 * span - 1))})
    return {"reach": reach, "cases": cases}


def slopes():
    return {str(heads): plain(_get_alibi_slopes(heads, "cpu")) for heads in (*range(1, 21), 32, 48, 71)}


def attend(q, k, v, bias, scale, causal):
    """[tokens, heads, d] each, bias [heads, queries, keys]; returns [tokens, heads, d]."""
    scores = torch.einsum("qhd,khd->hqk", q, k) * scale + bias
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[1:], dtype=torch.bool).triu(1), -torch.inf)
    return torch.einsum("hqk,khd->qhd", scores.softmax(-1), v)


def relative_attention():
    """Attention with each relative method, and the gradients of its tables, of sum(y * dy)."""
    torch.manual_seed(3)
    tokens, heads, width = 13, 3, 4
    q, k, v, dy = (torch.randn(tokens, heads, width).requires_grad_(i < 3) for i in range(4))
    scale = width ** -0.5
    inputs = {name: shaped(x) for name, x in zip(("q", "k", "v", "dy"), (q, k, v, dy))}
    cases = []

    def case(name, bias_of, parameters, causal, extra=None):
        y = attend(q, k, v, bias_of(), scale, causal)
        wanted = [q, k, v, *parameters.values()]
        gradients = torch.autograd.grad((y * dy).sum(), wanted)
        names = ["q", "k", "v", *parameters]
        cases.append({"name": name, "causal": causal, **(extra or {}), "parameters": {n: shaped(p) for n, p in parameters.items()},
                      "y": shaped(y), "gradients": {n: shaped(g) for n, g in zip(names, gradients)}})

    def alibi():
        return build_alibi_tensor(torch.ones(1, tokens), heads, torch.float32)  # [heads, 1, keys]; causal alone
    case("alibi", alibi, {}, True)

    table = torch.randn(2 * 3 + 1, width).requires_grad_()
    layer = types.SimpleNamespace(left_max_position_embeddings=3, right_max_position_embeddings=3, scaling=scale,
                                  distance_embedding=lambda i: F.embedding(i, table))

    def shaw():
        heads_first = [x.transpose(0, 1)[None] for x in (q, k)]
        return _apply_relative_key_position_encoding(layer, *heads_first)[1][0]
    for causal in (True, False):
        case("shaw", shaw, {"table": table}, causal, {"clip": 3})

    for causal in (True, False):
        config = T5Config(num_heads=heads, d_kv=width, d_model=heads * width, relative_attention_num_buckets=10,
                          relative_attention_max_distance=16, is_decoder=causal)
        t5 = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        torch.nn.init.normal_(t5.relative_attention_bias.weight)
        case("t5", lambda: t5.compute_bias(tokens, tokens)[0], {"table": t5.relative_attention_bias.weight}, causal,
             {"buckets": 10, "longest": 16})
    return {"inputs": inputs, "cases": cases}


def deberta():
    """DisentangledSelfAttention of DeBERTa v2: hidden states in, attention out; gradients of sum(y * dy)."""
    torch.manual_seed(4)
    tokens, heads, width = 17, 2, 4
    hidden = heads * width
    cases = []
    for shared, kinds in ((True, ["c2p", "p2c"]), (False, ["c2p", "p2c"]), (False, ["c2p"]), (False, ["p2c"])):
        config = DebertaV2Config(hidden_size=hidden, num_attention_heads=heads, relative_attention=True, position_buckets=6,
                                 max_relative_positions=12, share_att_key=shared, pos_att_type=kinds,
                                 hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        layer = DisentangledSelfAttention(config)
        for p in layer.parameters():
            torch.nn.init.normal_(p, std=0.5)
        x, table, dy = torch.randn(1, tokens, hidden), torch.randn(12, hidden).requires_grad_(), torch.randn(1, tokens, hidden)
        y = layer(x, torch.ones(1, 1, tokens, tokens), rel_embeddings=table)[0]
        parameters = {"rel_embeddings": table, **dict(layer.named_parameters())}
        gradients = torch.autograd.grad((y * dy).sum(), parameters.values())
        cases.append({"config": {"buckets": 6, "longest": 12, "share_projections": shared, "kinds": kinds}, "heads": heads,
                      "x": shaped(x[0]), "dy": shaped(dy[0]), "y": shaped(y[0]),
                      "parameters": {n: shaped(p) for n, p in parameters.items()},
                      "gradients": {n: shaped(g) for n, g in zip(parameters, gradients)}})
    return {"cases": cases}


# --- rotary -------------------------------------------------------------------------------------------------------

def rope_case(name, head_dim, lengths, config):
    """`config` in either spelling, as a config.json has it; frequencies for requests of each of `lengths` tokens."""
    llama = LlamaConfig(hidden_size=4 * head_dim, num_attention_heads=4, **json.loads(json.dumps(config)))
    kind = llama.rope_parameters["rope_type"]
    compute = rope_utils.ROPE_INIT_FUNCTIONS.get(kind)
    found = []
    for length in lengths:
        if compute:
            frequencies, factor = compute(llama, "cpu", seq_len=length)
        else:
            frequencies, factor = PhiRotaryEmbedding.compute_default_rope_parameters(llama)
        found.append({"length": length, "frequencies": plain(frequencies), "attention_factor": factor})
    return {"name": name, "head_dim": head_dim, "config": config, "found": found}


def rope():
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}
    short, long = [1.0 + 0.05 * i for i in range(8)], [1.5 * 1.4 ** i for i in range(8)]
    longrope = {"short_factor": short, "long_factor": long}
    llama3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 256}
    new = lambda p, **top: {**top, "rope_parameters": {"rope_theta": 10000.0, **p}}
    return {"cases": [
        rope_case("default", 16, [7], new({"rope_type": "default"}, max_position_embeddings=512)),
        rope_case("default, older", 64, [7], {"rope_theta": 500000.0}),
        rope_case("linear", 16, [7, 9000], new({"rope_type": "linear", "factor": 4.0})),
        rope_case("linear, older, once type", 16, [7], {"rope_theta": 1000.0, "rope_scaling": {"type": "linear", "factor": 2.5}}),
        rope_case("dynamic", 16, [1, 512, 513, 700, 4096], new({"rope_type": "dynamic", "factor": 2.0}, max_position_embeddings=512)),
        rope_case("dynamic, older", 32, [100, 5000], {"max_position_embeddings": 1024, "rope_theta": 10000.0,
                                                      "rope_scaling": {"type": "dynamic", "factor": 8.0}}),
        rope_case("yarn", 64, [7, 9000], new(yarn, max_position_embeddings=2048)),
        rope_case("yarn, all values", 64, [7], new({**yarn, "beta_fast": 20.0, "beta_slow": 2.0, "mscale": 0.7,
                                                    "mscale_all_dim": 1.3, "truncate": False}, max_position_embeddings=2048)),
        rope_case("yarn, truncate false alone", 64, [7], new({**yarn, "truncate": False}, max_position_embeddings=2048)),
        rope_case("yarn, attention factor", 32, [7], new({**yarn, "attention_factor": 1.25}, max_position_embeddings=2048)),
        rope_case("yarn, one mscale alone", 32, [7], new({**yarn, "mscale": 0.5}, max_position_embeddings=2048)),
        rope_case("yarn, older", 64, [7], {"max_position_embeddings": 131072, "rope_theta": 1000000.0, "rope_scaling": {
            "factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"}}),
        rope_case("yarn, original from the longest", 64, [7], new({"rope_type": "yarn", "factor": 4.0}, max_position_embeddings=2048)),
        rope_case("llama3", 16, [7], new({"rope_type": "llama3", **llama3}, max_position_embeddings=2048)),
        rope_case("llama3, older", 128, [7], {"max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {
            "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
            "rope_type": "llama3"}}),
        rope_case("longrope", 16, [1, 256, 257, 4096], new({"rope_type": "longrope", **longrope,
                                                            "original_max_position_embeddings": 256}, max_position_embeddings=4096)),
        rope_case("longrope, factor", 16, [256, 257], new({"rope_type": "longrope", **longrope, "factor": 8.0,
                                                           "original_max_position_embeddings": 256}, max_position_embeddings=4096)),
        rope_case("longrope, attention factor", 16, [256, 257], new({"rope_type": "longrope", **longrope, "attention_factor": 1.5,
                                                                     "original_max_position_embeddings": 256})),
        rope_case("longrope, older, length outside", 16, [256, 257], {
            "max_position_embeddings": 4096, "original_max_position_embeddings": 256, "rope_theta": 10000.0,
            "rope_scaling": {"type": "longrope", **longrope}}),
        rope_case("partial", 32, [7], new({"rope_type": "default", "partial_rotary_factor": 0.5})),
        rope_case("partial, older", 20, [7, 600], {"rope_theta": 10000.0, "partial_rotary_factor": 0.4, "max_position_embeddings": 512,
                                                   "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}),
        rope_case("partial yarn", 64, [7], new({**yarn, "partial_rotary_factor": 0.25}, max_position_embeddings=2048)),
    ]}


def turned():
    """Queries after rotation: positions x, frequencies theta = 10000, the first `dims` values of each head."""
    torch.manual_seed(5)
    positions = torch.tensor([0, 1, 2, 7, 100, 4095])
    cases = []
    for pairing, width, dims in (("half_split", 8, 8), ("interleaved", 8, 8), ("half_split", 10, 4), ("interleaved", 10, 4)):
        x = torch.randn(len(positions), 2, width)
        angles = positions[:, None].float() * (1.0 / 10000.0 ** (torch.arange(0, dims, 2).float() / dims))
        if pairing == "half_split":
            both = torch.cat([angles, angles], -1)
            head = turn_halves(x[None, ..., :dims], x[None, ..., :dims], both.cos()[None], both.sin()[None], unsqueeze_dim=2)[0][0]
        else:
            head = turn_interleaved(x[None, ..., :dims], angles.sin()[None], angles.cos()[None])[0]
        cases.append({"pairing": pairing, "dims": dims, "positions": plain(positions), "x": shaped(x),
                      "y": shaped(torch.cat([head, x[..., dims:]], -1))})
    return {"cases": cases}


# --- two and three dimensions -------------------------------------------------------------------------------------

def grids():
    torch.manual_seed(6)
    resized = []
    for mode, smooth, (a, b), (c, d) in (("bicubic", False, (4, 4), (7, 6)), ("bicubic", False, (5, 3), (2, 3)),
                                         ("bicubic", True, (4, 4), (7, 6)), ("bicubic", True, (7, 6), (3, 4)),
                                         ("bilinear", False, (4, 4), (7, 6)), ("bilinear", False, (6, 5), (4, 2)),
                                         ("bilinear", True, (6, 5), (4, 2)), ("bicubic", False, (1, 2), (3, 5)),
                                         ("bicubic", False, (4, 4), (4, 4))):
        x = torch.randn(a * b, 3).requires_grad_()
        y = F.interpolate(x.view(1, a, b, 3).permute(0, 3, 1, 2), size=(c, d), mode=mode, antialias=smooth, align_corners=False)
        y = y.permute(0, 2, 3, 1).reshape(c * d, 3)
        dy = torch.randn(c * d, 3)
        resized.append({"mode": mode, "antialias": smooth, "from": [a, b], "to": [c, d], "x": shaped(x), "y": shaped(y),
                        "dy": shaped(dy), "dx": shaped(torch.autograd.grad((y * dy).sum(), x)[0])})
    lines = []
    for a, c in ((4, 7), (5, 5), (3, 8), (6, 2), (1, 3)):
        x = torch.randn(a, 2)
        y = F.interpolate(x.T[None], size=c, mode="linear", align_corners=False)[0].T
        lines.append({"x": shaped(x), "y": shaped(y)})
    torch.set_default_dtype(torch.float32)
    sinusoidal = [{"height": h, "width": w, "values": shaped(build_2d_sinusoidal_position_embedding(h, w, n))}
                  for h, w, n in ((3, 4, 12), (1, 1, 8), (14, 2, 4))]
    table = torch.zeros(40, 10)
    create_sinusoidal_embeddings(40, 10, table)
    halves = MarianSinusoidalPositionalEmbedding(40, 10)
    return {"resized": resized, "lines": lines, "sinusoidal": sinusoidal, "interleaved": shaped(table), "halves": shaped(halves.create_weight())}


def grid_rotation():
    """Qwen2-VL's vision encoder: cosines and sines [tokens, head_dim / 2], of patches in blocks that are merged."""
    config = types.SimpleNamespace(rope_parameters={"rope_type": "axial", "rope_theta": 10000.0}, head_dim=16)
    module = Qwen2VLVisionRotaryEmbedding(config)
    cases = []
    for grid, merge in (([1, 4, 6], 2), ([2, 3, 5], 1)):
        positions = get_vision_position_ids(torch.tensor([grid]), merge)
        cos, sin = module(torch.empty(0), positions)
        cases.append({"grid": grid, "merge": merge, "head_dim": 16, "rows": plain(positions[:, 0]), "columns": plain(positions[:, 1]),
                      "cos": shaped(cos[:, :8]), "sin": shaped(sin[:, :8])})
    return {"cases": cases}


def space_time():
    """Position ids of mixed sequences by Qwen2-VL and Qwen2.5-Omni, and one rotation by sections."""
    result = {"qwen2_vl": [], "omni": []}
    model = types.SimpleNamespace(config=types.SimpleNamespace(vision_config=types.SimpleNamespace(spatial_merge_size=2)))
    model.get_vision_position_ids = types.MethodType(Qwen2VLModel.get_vision_position_ids, model)
    for parts in ([["text", 3], ["image", 1, 4, 6], ["text", 2]], [["text", 1], ["image", 1, 2, 2], ["text", 1], ["image", 1, 8, 4], ["text", 4]],
                  [["text", 2], ["video", 2, 4, 6], ["text", 3]], [["text", 5]]):
        kinds, images, videos = [], [], []
        for kind, *size in parts:
            count = size[0] if kind == "text" else size[0] * size[1] * size[2] // 4
            kinds += [["text", "image", "video"].index(kind)] * count
            if kind != "text":
                (images if kind == "image" else videos).append(size)
        ids = torch.zeros(1, len(kinds), dtype=torch.long)
        found, _ = Qwen2VLModel.get_rope_index(model, ids, torch.tensor([kinds], dtype=torch.int), torch.tensor(images) if images else None,
                                               torch.tensor(videos) if videos else None)
        result["qwen2_vl"].append({"parts": parts, "positions": plain(found[:, 0])})

    image, video, audio, vision_start, vision_end, audio_start, audio_end, text = range(100, 108)
    omni = types.SimpleNamespace(spatial_merge_size=2, config=types.SimpleNamespace(
        image_token_id=image, video_token_id=video, audio_token_id=audio, vision_start_token_id=vision_start,
        audio_start_token_id=audio_start, position_id_per_seconds=25, seconds_per_chunk=2))
    for name in ("get_llm_pos_ids_for_vision", "get_chunked_index"):
        setattr(omni, name, types.MethodType(getattr(Omni, name), omni))

    def ask(ids, **rest):
        return plain(Omni.get_rope_index(omni, torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)), **rest)[0][:, 0].long())
    audio_frames = lambda n: torch.tensor([4 * n])  # the encoder makes one token of four
    grid = [5, 4, 6]
    ids = [text] * 3 + [vision_start] + [video] * 30 + [vision_end] + [text] * 2
    result["omni"].append({"name": "video", "seconds": 1.0, "grid": grid, "positions": ask(
        ids, video_grid_thw=torch.tensor([grid]), second_per_grids=torch.tensor([1.0]))})
    ids = [text] * 2 + [audio_start] + [audio] * 9 + [audio_end] + [text] + [vision_start] + [image] * 6 + [vision_end] + [text]
    result["omni"].append({"name": "audio, image", "audio": 9, "grid": [1, 4, 6], "positions": ask(
        ids, image_grid_thw=torch.tensor([[1, 4, 6]]), audio_seqlens=audio_frames(9))})
    ids = [text] * 2 + [vision_start, audio_start] + [video] * 30 + [audio] * 130 + [audio_end, vision_end] + [text] * 2
    result["omni"].append({"name": "audio in video", "seconds": 1.0, "grid": grid, "audio": 130, "positions": ask(
        ids, video_grid_thw=torch.tensor([grid]), second_per_grids=torch.tensor([1.0]), use_audio_in_video=True, audio_seqlens=audio_frames(130))})

    config = types.SimpleNamespace(rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
                                   head_dim=16, max_position_embeddings=512)
    # Two tokens of text, two frames of 1 x 2 tokens that are 3 apart, one token of text.
    positions = torch.tensor([[0, 1, 2, 2, 5, 5, 6], [0, 1, 2, 2, 2, 2, 6], [0, 1, 2, 3, 2, 3, 6]])
    cos, sin = Qwen2VLRotaryEmbedding(config)(torch.empty(0), positions[:, None])
    result["rotation"] = {"section": [2, 3, 3], "head_dim": 16, "positions": plain(positions), "cos": shaped(cos[0, :, :8]), "sin": shaped(sin[0, :, :8])}
    return result


def main():
    output = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "tests/golden/positions")
    output.mkdir(parents=True, exist_ok=True)
    made = {"buckets": buckets, "slopes": slopes, "relative_attention": relative_attention, "deberta": deberta, "rope": rope,
            "turned": turned, "grids": grids, "grid_rotation": grid_rotation, "space_time": space_time}
    for name, make in made.items():
        (output / f"{name}.json").write_text(json.dumps(make(), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
