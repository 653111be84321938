#!/usr/bin/env python3
"""Writes tests/golden/gguf/tiny_ARCHITECTURE.gguf, whole models with the settings that all GGUF files of the architecture have, with the
`gguf` Python package; and models.json, what transformers gives for them.

usage: tools/golden/gguf_models.py [NAME...]     all without one
"""
import json
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers as tf
from safetensors.numpy import load_file

from gguf_files import OUTPUT, add_published, finish


def tiny_configs():
    """Sizes that differ from each other, and for all else what GGUF files of the architecture have."""
    base = dict(vocab_size=24, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64,
                pad_token_id=0, bos_token_id=1, eos_token_id=2)
    kv = dict(base, num_key_value_heads=2)
    rms = dict(kv, rms_norm_eps=1e-3)
    old = dict(vocab_size=24, bos_token_id=1, eos_token_id=2)
    rope = {"rope_type": "default", "rope_theta": 500.0}
    t5 = dict(vocab_size=24, d_model=16, d_kv=6, d_ff=24, num_layers=2, num_heads=4, relative_attention_num_buckets=8, layer_norm_epsilon=1e-3,
              pad_token_id=0, eos_token_id=2, decoder_start_token_id=0, n_positions=64)
    moe = dict(rms, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12, rope_parameters=rope, decoder_sparse_step=1)
    return {
        "tiny_llama": tf.LlamaConfig(**rms, head_dim=6, rope_parameters={"rope_type": "linear", "factor": 3.0, "rope_theta": 500.0}),
        "tiny_llama_yarn": tf.LlamaConfig(**rms, attention_bias=True, tie_word_embeddings=True, rope_parameters={
            "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 500.0, "beta_fast": 16.0, "beta_slow": 0.5}),
        "tiny_mixtral": tf.MixtralConfig(**rms, num_local_experts=4, num_experts_per_tok=2, sliding_window=None, rope_parameters=rope),
        "tiny_granite": tf.GraniteConfig(**rms, attention_multiplier=0.2, embedding_multiplier=3.0, residual_multiplier=0.7, logits_scaling=2.5,
                                         rope_parameters=rope),
        "tiny_smollm3": tf.SmolLM3Config(**{**rms, "num_hidden_layers": 5}, rope_parameters=rope),
        "tiny_qwen2": tf.Qwen2Config(**rms, rope_parameters=rope), "tiny_qwen3": tf.Qwen3Config(**rms, head_dim=6, rope_parameters=rope),
        "tiny_qwen2moe": tf.Qwen2MoeConfig(**moe, shared_expert_intermediate_size=20, norm_topk_prob=False),
        "tiny_qwen3moe": tf.Qwen3MoeConfig(**moe, head_dim=4, norm_topk_prob=True),
        "tiny_gemma": tf.GemmaConfig(**rms, head_dim=6, rope_parameters=rope),
        "tiny_gemma2": tf.Gemma2Config(**rms, head_dim=6, query_pre_attn_scalar=6, sliding_window=3, attn_logit_softcapping=2.0,
                                       final_logit_softcapping=3.0, rope_parameters=rope),
        "tiny_gemma3": tf.Gemma3TextConfig(**{**rms, "num_hidden_layers": 7}, head_dim=6, query_pre_attn_scalar=6, sliding_window=3),
        "tiny_phi2": tf.PhiConfig(**{**kv, "num_key_value_heads": 4}, layer_norm_eps=1e-3,
                                  rope_parameters={**rope, "partial_rotary_factor": 0.5}),
        "tiny_phi3": tf.Phi3Config(**rms, sliding_window=None, original_max_position_embeddings=16, rope_parameters={
            "rope_type": "longrope", "rope_theta": 500.0, "short_factor": [1.0, 1.3], "long_factor": [1.5, 4.0]}),
        "tiny_stablelm": tf.StableLmConfig(**kv, layer_norm_eps=1e-3, use_qkv_bias=True, rope_parameters={**rope, "partial_rotary_factor": 0.5}),
        "tiny_olmo2": tf.Olmo2Config(**rms, rope_parameters=rope),
        "tiny_command-r": tf.CohereConfig(**kv, layer_norm_eps=1e-3, logit_scale=0.4, use_qk_norm=True, rope_parameters=rope),
        "tiny_starcoder2": tf.Starcoder2Config(**kv, norm_epsilon=1e-3, sliding_window=None, rope_parameters=rope),
        "tiny_gpt2": tf.GPT2Config(**old, n_embd=16, n_layer=2, n_head=4, n_positions=64, n_inner=24, layer_norm_epsilon=1e-3),
        "tiny_gptneox": tf.GPTNeoXConfig(**base, layer_norm_eps=1e-3, rope_parameters={**rope, "partial_rotary_factor": 0.5}),
        "tiny_falcon": tf.FalconConfig(**old, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_kv_heads=2,
                                       new_decoder_architecture=True, layer_norm_epsilon=1e-3, ffn_hidden_size=24),
        "tiny_falcon_7b": tf.FalconConfig(**old, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, multi_query=True, parallel_attn=True),
        "tiny_bloom": tf.BloomConfig(**old, hidden_size=16, n_layer=2, n_head=4, layer_norm_epsilon=1e-3),
        "tiny_mpt": tf.MptConfig(**old, d_model=16, n_layers=2, n_heads=4, max_seq_len=64),  # transformers heeds no expansion_ratio: it is 4
        "tiny_bert": tf.BertConfig(**base, layer_norm_eps=1e-3, type_vocab_size=2),
        "tiny_nomic-bert": tf.NomicBertConfig(**base, layer_norm_eps=1e-3, type_vocab_size=2, rope_parameters=rope),
        "tiny_t5": tf.T5Config(**t5, num_decoder_layers=3, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
        "tiny_t5_relu": tf.T5Config(**t5),
    }


def t5_metadata(w, c):
    w.add_vocab_size(c.vocab_size)
    w.add_context_length(64)
    w.add_embedding_length(c.d_model)
    w.add_feed_forward_length(c.d_ff)
    w.add_block_count(c.num_layers)
    w.add_decoder_block_count(c.num_decoder_layers)
    w.add_head_count(c.num_heads)
    w.add_key_length(c.d_kv)
    w.add_value_length(c.d_kv)
    w.add_relative_attn_buckets_count(c.relative_attention_num_buckets)
    w.add_layer_norm_rms_eps(c.layer_norm_epsilon)
    w.add_decoder_start_token_id(c.decoder_start_token_id)
    return c.num_heads


def tiny_metadata(w, architecture, c):
    if architecture == "t5":
        return t5_metadata(w, c)
    common_sizes = {"mpt": ("max_seq_len",), "gpt2": ("n_positions",)}.get(architecture, ("max_position_embeddings",))
    w.add_vocab_size(c.vocab_size)
    w.add_context_length(getattr(c, common_sizes[0], 2048))
    w.add_embedding_length(c.hidden_size)
    w.add_block_count(c.num_hidden_layers)
    inner = {"gpt2": "n_inner", "falcon": "ffn_hidden_size"}.get(architecture, "intermediate_size")
    w.add_feed_forward_length(c.expansion_ratio * c.d_model if architecture == "mpt" else getattr(c, inner, None) or 4 * c.hidden_size)
    w.add_head_count(c.num_attention_heads)
    kv = getattr(c, "num_key_value_heads", None) or c.num_attention_heads
    if architecture == "falcon":
        kv = c.num_kv_heads if c.new_decoder_architecture else 1
    w.add_head_count_kv(kv)
    head = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    if getattr(c, "head_dim", None) and architecture not in ("phi3", "falcon"):
        w.add_key_length(head)
        w.add_value_length(head)
    if hasattr(c, "rms_norm_eps"):
        w.add_layer_norm_rms_eps(c.rms_norm_eps)
    for name in ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"):
        if hasattr(c, name):
            w.add_layer_norm_eps(getattr(c, name))
    rope = getattr(c, "rope_parameters", None) or {}
    if "sliding_attention" in rope:
        w.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
        rope = rope["full_attention"]
    if rope.get("rope_theta"):
        w.add_rope_freq_base(rope["rope_theta"])
        w.add_rope_dimension_count(int(head * rope.get("partial_rotary_factor", 1.0)))
    if rope.get("rope_type") == "linear":
        w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        w.add_rope_scaling_factor(rope["factor"])
    if rope.get("rope_type") == "yarn":
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        w.add_rope_scaling_factor(rope["factor"])
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        w.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
        w.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
    if rope.get("rope_type") == "longrope":
        w.add_rope_scaling_orig_ctx_len(c.original_max_position_embeddings)
        scale = c.max_position_embeddings / c.original_max_position_embeddings
        w.add_rope_scaling_attn_factors(float(np.sqrt(1 + np.log(scale) / np.log(c.original_max_position_embeddings))))
        w.add_tensor("rope_factors_long.weight", np.array(rope["long_factor"], dtype=np.float32))
        w.add_tensor("rope_factors_short.weight", np.array(rope["short_factor"], dtype=np.float32))
    if architecture in ("gemma2", "gemma3"):
        w.add_sliding_window(c.sliding_window)
    if architecture == "gemma2":
        w.add_attn_logit_softcapping(c.attn_logit_softcapping)
        w.add_final_logit_softcapping(c.final_logit_softcapping)
    if architecture == "granite":
        w.add_attention_scale(c.attention_multiplier)
        w.add_embedding_scale(c.embedding_multiplier)
        w.add_residual_scale(c.residual_multiplier)
        w.add_logit_scale(c.logits_scaling)
    if architecture == "command-r":
        w.add_logit_scale(c.logit_scale)
    if architecture in ("gptneox", "stablelm"):
        w.add_parallel_residual(c.use_parallel_residual)
    if architecture == "mpt":
        w.add_max_alibi_bias(c.attn_config.alibi_bias_max)
    experts = getattr(c, "num_local_experts", None) or getattr(c, "num_experts", None)
    if experts:
        w.add_expert_count(experts)
        w.add_expert_used_count(c.num_experts_per_tok)
        if hasattr(c, "moe_intermediate_size"):
            w.add_expert_feed_forward_length(c.moe_intermediate_size)
        if hasattr(c, "shared_expert_intermediate_size"):
            w.add_expert_shared_feed_forward_length(c.shared_expert_intermediate_size)
    return kv


def tiny_models(chosen):
    cases = json.loads((OUTPUT / "models.json").read_text()) if chosen else {}
    for seed, (name, config) in enumerate(tiny_configs().items()):
        if chosen and name not in chosen:
            continue
        architecture = name.split("_")[1]
        architecture = "llama" if architecture == "mixtral" else architecture
        torch.manual_seed(seed)
        encoder = architecture in ("bert", "nomic-bert")
        kind = tf.AutoModel if encoder else tf.AutoModelForSeq2SeqLM if architecture == "t5" else tf.AutoModelForCausalLM
        model = kind.from_config(config).eval()
        if architecture == "t5" and not config.scale_decoder_outputs:  # version 1.1: an output layer of its own, whatever the config says
            model.lm_head.weight = torch.nn.Parameter(torch.randn(config.vocab_size, config.d_model))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape) * 0.1)
        ids = torch.randint(3, 24, (1, 8))
        with torch.no_grad():
            decoder_ids = {"decoder_input_ids": torch.randint(3, 24, (1, 5))} if architecture == "t5" else {}
            out = model(input_ids=ids, **decoder_ids)
        outputs = out.last_hidden_state if encoder else out.logits
        with tempfile.TemporaryDirectory() as scratch:
            model.save_pretrained(scratch)
            tensors = load_file(Path(scratch) / "model.safetensors")
        tensors = {k: v for k, v in tensors.items() if "pooler" not in k}
        if architecture == "t5" and not config.scale_decoder_outputs:
            tensors["lm_head.weight"] = model.lm_head.weight.detach().numpy()
        w = gguf.GGUFWriter(OUTPUT / f"{name}.gguf", architecture)
        kv = tiny_metadata(w, architecture, config)
        add_published(w, architecture, tensors, config.num_attention_heads, kv,
                      max(config.num_hidden_layers, getattr(config, "num_decoder_layers", None) or 0))
        finish(w)
        cases[name] = {"model_type": config.model_type, "ids": ids[0].tolist(), **{k.replace("input_ids", "ids"): v[0].tolist() for k, v in decoder_ids.items()},
                       "outputs": [float(f"{v:.7g}") for v in outputs.flatten().tolist()]}
        print(name, config.model_type)
    (OUTPUT / "models.json").write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in cases.items()) + "\n}\n")


if __name__ == "__main__":
    tiny_models(sys.argv[1:])
