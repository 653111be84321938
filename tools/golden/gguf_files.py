#!/usr/bin/env python3
"""Writes tests/golden/gguf/ with the `gguf` Python package, PyTorch and transformers: what Attune must read as they do.

usage: tools/golden/gguf_files.py

all_types.gguf and .safetensors  every type of metadata and of tensors, with the values that the package computes for blocks
writable.gguf                    a file that Attune must write again byte for byte
names.json                       for each architecture, published names and the package's names for them
ARCHITECTURE.gguf, .safetensors  the tensors of a layer that a converter changes, as they are in GGUF and as published
MODEL.gguf                       a whole model of tests/golden/models, with its config in the metadata
"""
import json
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers as tf
from safetensors.numpy import load_file, save_file

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
OUTPUT = GOLDEN / "gguf"
T = gguf.GGUFValueType
Q = gguf.GGMLQuantizationType


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def blocks(kind, rows, seed):
    """Random blocks whose scales are ordinary halves."""
    generator = np.random.default_rng(seed)
    values, size = gguf.GGML_QUANT_SIZES[kind]
    count = rows * (256 // values)
    data = generator.integers(0, 256, (count, size), dtype=np.uint8)
    scales = {Q.Q2_K: (80, 82), Q.Q3_K: (108,), Q.Q6_K: (208,), Q.Q4_1: (0, 2), Q.Q5_1: (0, 2), Q.Q4_K: (0, 2), Q.Q5_K: (0, 2),
              Q.TQ1_0: (52,)}.get(kind, (0,))
    for at in scales:
        data[:, at:at + 2] = generator.normal(size=(count, 1)).astype(np.float16).view(np.uint8)
    return data.reshape(rows, -1)


def all_types():
    w = gguf.GGUFWriter(OUTPUT / "all_types.gguf", "none")
    for name, kind, value in [("u8", T.UINT8, 200), ("i8", T.INT8, -100), ("u16", T.UINT16, 60000), ("i16", T.INT16, -30000),
                              ("u32", T.UINT32, 4000000000), ("i32", T.INT32, -2000000000), ("u64", T.UINT64, 9 * 10**18),
                              ("i64", T.INT64, -9 * 10**18), ("f32", T.FLOAT32, 1e-5), ("f64", T.FLOAT64, 1e-300),
                              ("yes", T.BOOL, True), ("no", T.BOOL, False), ("text", T.STRING, "größe ✓\n"),
                              ("texts", T.ARRAY, ["", "a", "▁b"]), ("i32s", T.ARRAY, [-1, 0, 70000]),
                              ("f32s", T.ARRAY, [0.5, -2.0]), ("nested", T.ARRAY, [[1, 2], [3, 4]])]:
        w.add_key_value("t." + name, value, kind)
    count = np.arange(6)
    w.add_tensor("f32", (count * 0.5).astype(np.float32).reshape(3, 2))
    w.add_tensor("f16", (count[:3] * 0.25).astype(np.float16))
    w.add_tensor("f64", (count[:3] - 2).astype(np.float64))
    w.add_tensor("i8", (count[:3] - 3).astype(np.int8))
    w.add_tensor("i16", (count[:3] - 30000).astype(np.int16))
    w.add_tensor("i32", (count[:3] - 100000).astype(np.int32))
    w.add_tensor("i64", (count[:3] * 1000000007).astype(np.int64))
    expected = {}
    for i, kind in enumerate([Q.BF16, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0, Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K, Q.IQ4_NL,
                              Q.IQ4_XS, Q.TQ1_0]):
        name = kind.name.lower()
        if kind == Q.BF16:
            data = gguf.quants.quantize((count - 3).astype(np.float32), kind)
        elif kind == Q.Q8_0:
            data = blocks(kind, 2, i)[:, :34]  # [2, 32]
        else:
            data = blocks(kind, 2, i)
        w.add_tensor(name, np.ascontiguousarray(data), raw_dtype=kind)
        if kind != Q.TQ1_0:
            expected[name] = gguf.quants.dequantize(data, kind).astype(np.float32)
    finish(w)
    save_file(expected, OUTPUT / "all_types.safetensors")


def writable():
    """No nested arrays and no gaps: the writer pads each tensor as ours does."""
    w = gguf.GGUFWriter(OUTPUT / "writable.gguf", "llama")
    w.add_uint32("llama.block_count", 2)
    w.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
    w.add_array("tokenizer.ggml.tokens", ["<s>", "▁a", "b"])
    w.add_array("tokenizer.ggml.scores", [0.0, -1.0, -2.0])
    w.add_bool("tokenizer.ggml.add_bos_token", True)
    w.add_tensor("a.weight", np.arange(6, dtype=np.float32).reshape(2, 3))
    w.add_tensor("b.weight", np.arange(3, dtype=np.float16))
    w.add_tensor("c.weight", blocks(Q.Q4_K, 1, 5), raw_dtype=Q.Q4_K)
    finish(w)


# What a converter does to the values: the reshapes of the converters' formulas, written for numpy.

def paired(x, heads):
    return np.ascontiguousarray(x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:]).swapaxes(1, 2)).reshape(x.shape)


def grouped(x, heads, kv):
    width = x.shape[0] // (heads + 2 * kv)
    parts = x.reshape(kv, heads // kv + 2, width, -1)
    q, k, v = parts[:, :-2], parts[:, -2], parts[:, -1]
    return np.concatenate([part.reshape(-1, parts.shape[-1]) for part in (q, k, v)]).reshape(x.shape)


def changed(architecture, name, x, heads, kv):
    weight = name.rsplit(".", 1)[0]
    if architecture in ("llama", "granite", "smollm3") and weight.endswith("q_proj"):
        return paired(x, heads)
    if architecture in ("llama", "granite", "smollm3") and weight.endswith("k_proj"):
        return paired(x, kv)
    if architecture in ("bloom", "gptneox", "falcon") and weight.endswith("query_key_value"):
        return grouped(x, heads, kv)
    if architecture.startswith("gemma") and weight.endswith("norm"):
        return x + np.float32(1)
    if architecture == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
        return np.ascontiguousarray(x.T)
    return x.squeeze() if name.endswith("shared_expert_gate.weight") else x


def name_in_gguf(architecture, name, layers):
    """The package's table has bloom's and gpt2's names without their prefix."""
    table = gguf.get_tensor_name_map({v: k for k, v in gguf.MODEL_ARCH_NAMES.items()}[architecture], layers)
    for short in (name, name.removeprefix("transformer."), name.removeprefix("bert."), name.removeprefix("model.")):
        if found := table.get_name(short, try_suffixes=(".weight", ".bias")):
            return found
    raise KeyError(f"{architecture}: {name}")


def add_published(writer, architecture, tensors, heads, kv, layers):
    stacks = {}
    for name, values in tensors.items():
        parts = name.split(".")
        place = next((i for i, part in enumerate(parts) if part in ("experts", "norms")), None)
        if place is not None:
            merged = ".".join(parts[:place + 1] * (parts[place] == "experts") + parts[:place] * (parts[place] == "norms") + parts[place + 2:])
            stacks.setdefault(merged.replace("model.layers", "layers").replace("block_sparse_moe", "feed_forward")
                              if "block_sparse_moe" in merged else merged, []).append(values)
            continue
        writer.add_tensor(name_in_gguf(architecture, name, layers), changed(architecture, name, values, heads, kv))
    for name, values in stacks.items():
        writer.add_tensor(name_in_gguf(architecture, name, layers), np.stack(values))


def parts():
    """(architecture, published names and shapes, heads, key heads)"""
    q, k = "model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj"
    norm = "model.layers.1.{}.weight"
    experts = [(f"model.layers.0.mlp.experts.{e}.{p}.weight", s) for p, s in
               [("gate_proj", (5, 4)), ("up_proj", (5, 4)), ("down_proj", (4, 5))] for e in range(3)]
    mixtral = [(f"model.layers.0.block_sparse_moe.experts.{e}.{p}.weight", s) for p, s in
               [("w1", (5, 4)), ("w3", (5, 4)), ("w2", (4, 5))] for e in range(3)]
    return {
        "llama": ([(q.format(0) + ".weight", (24, 5)), (k.format(0) + ".weight", (12, 5)), (q.format(1) + ".bias", (24,)),
                   (k.format(1) + ".bias", (12,)), ("model.layers.1.self_attn.v_proj.weight", (12, 5))], 4, 2),
        "mixtral": ([(k.format(0) + ".weight", (12, 5)), ("model.layers.0.block_sparse_moe.gate.weight", (3, 4))] + mixtral, 4, 2),
        "gemma2": ([(norm.format(n), (4,)) for n in ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                                                     "post_feedforward_layernorm")] + [("model.norm.weight", (4,))], 4, 2),
        "gemma3": ([(norm.format("self_attn.q_norm"), (4,)), (norm.format("self_attn.k_norm"), (4,))], 4, 2),
        "gpt2": ([(f"transformer.h.0.{n}.{e}", s) for n, (i, o) in
                  {"attn.c_attn": (4, 12), "attn.c_proj": (4, 4), "mlp.c_fc": (4, 10), "mlp.c_proj": (10, 4)}.items()
                  for e, s in [("weight", (i, o)), ("bias", (o,))]], 2, 2),
        "gptneox": ([("gpt_neox.layers.0.attention.query_key_value.weight", (24, 8)),
                     ("gpt_neox.layers.0.attention.query_key_value.bias", (24,))], 4, 4),
        "bloom": ([("transformer.h.1.self_attention.query_key_value.weight", (24, 8)),
                   ("transformer.h.1.self_attention.query_key_value.bias", (24,))], 4, 4),
        "falcon": ([("transformer.h.0.self_attention.query_key_value.weight", (16, 8)),
                    ("transformer.h.0.ln_attn.weight", (8,)), ("transformer.h.0.ln_mlp.weight", (8,))], 4, 2),
        "qwen2moe": ([("model.layers.0.mlp.shared_expert_gate.weight", (1, 4)),
                      ("model.layers.0.mlp.shared_expert.up_proj.weight", (6, 4))] + experts, 4, 2),
        "stablelm": ([(f"model.layers.0.self_attn.{x}_layernorm.norms.{h}.weight", (4,)) for x in "qk" for h in range(2)], 2, 2),
    }


def changed_parts():
    for name, (tensors, heads, kv) in parts().items():
        generator = np.random.default_rng(len(name))
        architecture = "llama" if name == "mixtral" else name
        published = {n: generator.normal(size=s).astype(np.float32) for n, s in tensors}
        w = gguf.GGUFWriter(OUTPUT / f"{name}.gguf", architecture)
        w.add_head_count(heads)
        w.add_head_count_kv(kv)
        if "experts" in "".join(published):
            w.add_expert_count(3)
        add_published(w, architecture, published, heads, kv, 2)
        finish(w)
        save_file(published, OUTPUT / f"{name}.safetensors")


def names():
    small = dict(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=2, num_attention_heads=2)
    kv = dict(small, num_key_value_heads=2)
    configs = {
        "llama": tf.LlamaConfig(**kv, attention_bias=True), "granite": tf.GraniteConfig(**kv), "smollm3": tf.SmolLM3Config(**kv, pad_token_id=0),
        "qwen2": tf.Qwen2Config(**kv), "qwen3": tf.Qwen3Config(**kv), "gemma": tf.GemmaConfig(**kv, pad_token_id=0),
        "gemma2": tf.Gemma2Config(**kv, pad_token_id=0), "gemma3": tf.Gemma3TextConfig(**kv, pad_token_id=0),
        "phi2": tf.PhiConfig(**kv), "phi3": tf.Phi3Config(**kv, pad_token_id=0), "stablelm": tf.StableLmConfig(**kv, use_qkv_bias=True),
        "olmo2": tf.Olmo2Config(**kv, pad_token_id=0), "command-r": tf.CohereConfig(**kv, use_qk_norm=True, pad_token_id=0),
        "cohere2": tf.Cohere2Config(**kv, pad_token_id=0), "starcoder2": tf.Starcoder2Config(**kv),
        "gpt2": tf.GPT2Config(vocab_size=8, n_embd=8, n_layer=2, n_head=2), "gptneox": tf.GPTNeoXConfig(**small),
        "falcon": tf.FalconConfig(vocab_size=8, hidden_size=8, num_hidden_layers=2, num_attention_heads=2),
        "bloom": tf.BloomConfig(vocab_size=8, hidden_size=8, n_layer=2, n_head=2), "mpt": tf.MptConfig(vocab_size=8, d_model=8, n_layers=2, n_heads=2),
        "bert": tf.BertConfig(**small), "t5": tf.T5Config(vocab_size=8, d_model=8, d_kv=4, d_ff=8, num_layers=2, num_heads=2, feed_forward_proj="gated-gelu"),
    }
    everything = {}
    for architecture, config in configs.items():
        with torch.device("meta"):
            kind = {"bert": tf.AutoModel, "t5": tf.T5ForConditionalGeneration}.get(architecture, tf.AutoModelForCausalLM)
            model = kind(config) if architecture == "t5" else kind.from_config(config)
        table = {}
        for name in model.state_dict():
            tied = architecture in ("gemma", "gemma2", "gemma3", "command-r", "cohere2", "gpt2", "bloom", "mpt", "falcon", "t5")
            if "pooler" in name or name == "lm_head.weight" and tied or name.endswith("embed_tokens.weight") and architecture == "t5":
                continue  # no converter writes them
            published = "bert." + name if architecture == "bert" else name
            if architecture == "gptneox":
                published = name.replace("lm_head", "embed_out")  # as published files have it
            table[published] = name_in_gguf(architecture, name, 2)
        everything[architecture] = table
    (OUTPUT / "names.json").write_text(json.dumps(everything, indent=0) + "\n")


def common(w, c):
    w.add_vocab_size(c["vocab_size"])
    w.add_context_length(c.get("max_position_embeddings", c.get("n_positions")))
    w.add_embedding_length(c.get("hidden_size", c.get("n_embd")))
    w.add_block_count(c.get("num_hidden_layers", c.get("n_layer")))
    w.add_feed_forward_length(c.get("intermediate_size") or c.get("n_inner") or 4 * c["n_embd"])
    w.add_head_count(c.get("num_attention_heads", c.get("n_head")))


def llama_metadata(w, c):
    common(w, c)
    w.add_head_count_kv(c["num_key_value_heads"])
    head = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    w.add_rope_dimension_count(head)
    if c.get("head_dim"):
        w.add_key_length(head)
        w.add_value_length(head)
    w.add_layer_norm_rms_eps(c["rms_norm_eps"])
    scaling = c.get("rope_parameters") or {"rope_theta": c.get("rope_theta", 10000.0), **(c.get("rope_scaling") or {})}
    w.add_rope_freq_base(scaling["rope_theta"])
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "linear":
        w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        w.add_rope_scaling_factor(scaling["factor"])
    elif kind == "yarn":
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        w.add_rope_scaling_factor(scaling["factor"])
        w.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
        w.add_rope_scaling_yarn_beta_fast(scaling.get("beta_fast", 32.0))
        w.add_rope_scaling_yarn_beta_slow(scaling.get("beta_slow", 1.0))
        if "attention_factor" in scaling:
            w.add_rope_scaling_yarn_attn_factor(scaling["attention_factor"])
    elif kind == "llama3":
        turns = 1.0 / (scaling["rope_theta"] ** (torch.arange(0, head, 2, dtype=torch.float32) / head))
        low, high = (scaling["original_max_position_embeddings"] / scaling[k] for k in ("low_freq_factor", "high_freq_factor"))
        factors = []
        for turn in turns.tolist():
            wave = 2 * np.pi / turn
            smooth = (scaling["original_max_position_embeddings"] / wave - scaling["low_freq_factor"]) / (
                scaling["high_freq_factor"] - scaling["low_freq_factor"])
            factors.append(1.0 if wave < high else scaling["factor"] if wave > low else
                           1 / ((1 - smooth) / scaling["factor"] + smooth))
        w.add_tensor("rope_freqs.weight", np.array(factors, dtype=np.float32))


def gpt2_metadata(w, c):
    common(w, c)
    w.add_layer_norm_eps(c["layer_norm_epsilon"])


def bert_metadata(w, c):
    common(w, c)
    w.add_layer_norm_eps(c["layer_norm_eps"])
    w.add_causal_attention(False)
    w.add_token_type_count(c["type_vocab_size"])
    w.add_pooling_type(gguf.PoolingType.NONE)


def whole_models():
    for name, architecture, metadata in [("llama_tied_biased", "llama", llama_metadata), ("llama_yarn_rope", "llama", llama_metadata),
                                         ("llama_untied_llama3_rope", "llama", llama_metadata), ("gpt2_tied", "gpt2", gpt2_metadata),
                                         ("bert_masked_lm", "bert", bert_metadata)]:
        config = json.loads((GOLDEN / "models" / name / "config.json").read_text())
        tensors = load_file(GOLDEN / "models" / name / "model.safetensors")
        tensors = {k: v for k, v in tensors.items() if not k.startswith("cls.") and "pooler" not in k and "position_ids" not in k}
        heads = config.get("num_attention_heads", config.get("n_head"))
        w = gguf.GGUFWriter(OUTPUT / f"{name}.gguf", architecture)
        metadata(w, config)
        layers = config.get("num_hidden_layers", config.get("n_layer"))
        add_published(w, architecture, tensors, heads, config.get("num_key_value_heads", heads), layers)
        finish(w)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    all_types()
    writable()
    names()
    changed_parts()
    whole_models()


if __name__ == "__main__":
    main()
