#!/usr/bin/env python3
"""Goldens of decoders, as tools/golden/models.py makes them.

usage: tools/golden/model_families/decoders.py [NAME...]     writes tests/golden/models/NAME/ for each NAME (all without one)

Sequences are longer than the windows; names beginning with "old_" are configs in the spelling of transformers 4. training.json
is there for one Gemma and one mixture of experts.
"""
import pathlib
import re
import sys

import torch
import transformers as tf
from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import models as base  # noqa: E402

VOCAB = 41
SIZES = dict(vocab_size=VOCAB, hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=17, initializer_range=0.05, bos_token_id=0, eos_token_id=1, pad_token_id=2,
             attn_implementation="eager")
ROPE = {"rope_type": "default", "rope_theta": 500.0}


def lines():
    return base.with_padding(base.token_lines(VOCAB), 2)


def router_loss(model, batch):
    """transformers' loss of the routers, over all tokens of all lines: what one padded batch with a mask gives."""
    config = model.config
    if not getattr(config, "output_router_logits", False):
        return 0
    by_line = [base.forward(model, line).router_logits for line in batch]
    by_layer = tuple(torch.cat(layer) for layer in zip(*by_line))
    experts = getattr(config, "num_local_experts", None) or config.num_experts
    return config.router_aux_loss_coef * load_balancing_loss_func(by_layer, experts, config.num_experts_per_tok)


text_loss = base.total_loss
base.total_loss = lambda model, batch: text_loss(model, batch) + router_loss(model, batch)


def apart(name, values, names):
    """An expert's part of a tensor that transformers keeps for all experts together, under its published name."""
    out = {}
    found = re.fullmatch(r"(.*)\.mlp\.experts\.(gate_up_proj|down_proj)", name)
    if not found:
        return {name.replace(".mlp.gate.weight", names["gate_of"]): values}
    for i, part in enumerate(values):
        scope = f"{found[1]}.{names['scope']}.experts.{i}"
        if found[2] == "down_proj":
            out[f"{scope}.{names['down']}.weight"] = part
        else:
            half = part.shape[0] // 2
            out[f"{scope}.{names['gate']}.weight"], out[f"{scope}.{names['up']}.weight"] = part[:half], part[half:]
    return {k: v for k, v in out.items() if v.abs().max() > 0}  # an expert that no token chose has no gradient


MIXTRAL = dict(scope="block_sparse_moe", gate_of=".block_sparse_moe.gate.weight", gate="w1", up="w3", down="w2")
QWEN = dict(scope="mlp", gate_of=".mlp.gate.weight", gate="gate_proj", up="up_proj", down="down_proj")


def write(name, model, edit_config=None, rename=None, experts=None, training=False, batch=None):
    plain = base.expected

    def expected(*arguments):
        values = plain(*arguments)
        if experts:
            split = {}
            for key, value in values.items():
                split.update({"gradient/" + k: v for k, v in apart(key[9:], value, experts).items()}
                             if key.startswith("gradient/") else {key: value})
            values = {k: v.contiguous().clone() for k, v in split.items()}
        return values

    base.expected = expected
    try:
        base.write(name, model, batch or lines(), edit_config=edit_config, rename=rename, training=training)
    finally:
        base.expected = plain


def without(*keys, then=None):
    def edit(config):
        config = then(config) if then else config
        return {k: v for k, v in config.items() if k not in keys}
    return edit


def mistral():
    config = tf.MistralConfig(**SIZES, head_dim=6, hidden_act="gelu", rms_norm_eps=1e-3, sliding_window=5, tie_word_embeddings=True,
                              attention_dropout=0.1, rope_parameters={"rope_type": "linear", "rope_theta": 900.0, "factor": 3.0})
    write("mistral", tf.MistralForCausalLM(config))


def mistral_classification():
    config = tf.MistralConfig(**SIZES, hidden_act="relu", rms_norm_eps=1e-3, sliding_window=None, rope_parameters=ROPE, num_labels=3,
                              id2label={0: "a", 1: "b", 2: "c"}, label2id={"a": 0, "b": 1, "c": 2})
    batch = base.token_lines(VOCAB)
    for i, line in enumerate(batch):
        line["labels"] = [i % 3]
    write("mistral_classification", tf.MistralForSequenceClassification(config), batch=batch)


def qwen2():
    config = tf.Qwen2Config(**{**SIZES, "max_position_embeddings": 6}, hidden_act="relu", rms_norm_eps=1e-3, use_sliding_window=True,
                            sliding_window=5, tie_word_embeddings=True, layer_types=["sliding_attention", "full_attention"],
                            rope_parameters={"rope_type": "dynamic", "rope_theta": 300.0, "factor": 2.0})
    write("qwen2", tf.Qwen2ForCausalLM(config))


def old_qwen2():
    rope = {"rope_type": "yarn", "rope_theta": 300.0, "factor": 4.0, "original_max_position_embeddings": 4, "beta_fast": 2.0, "beta_slow": 0.1}
    config = tf.Qwen2Config(**{**SIZES, "num_hidden_layers": 3}, hidden_act="gelu", rms_norm_eps=1e-3, use_sliding_window=True,
                            sliding_window=4, max_window_layers=1, rope_parameters=rope)
    write("old_qwen2", tf.Qwen2ForCausalLM(config), edit_config=without("layer_types", then=base.old_rope))


def qwen3():
    rope = {"rope_type": "llama3", "rope_theta": 300.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 3.0,
            "original_max_position_embeddings": 8}
    config = tf.Qwen3Config(**SIZES, head_dim=6, hidden_act="gelu", rms_norm_eps=1e-3, attention_bias=True, use_sliding_window=True,
                            sliding_window=5, max_window_layers=1, rope_parameters=rope)
    write("qwen3", tf.Qwen3ForCausalLM(config))


def gemma():
    config = tf.GemmaConfig(**SIZES, head_dim=6, hidden_act="silu", rms_norm_eps=1e-3, attention_bias=True, tie_word_embeddings=False,
                            rope_parameters=ROPE)
    write("gemma", tf.GemmaForCausalLM(config))


def old_gemma():
    """hidden_act "gelu" means the tanh formula in the first published configs."""
    config = tf.GemmaConfig(**SIZES, head_dim=8, rms_norm_eps=1e-3, rope_parameters=ROPE)
    write("old_gemma", tf.GemmaForCausalLM(config), edit_config=lambda c: {**base.old_rope(c), "hidden_act": "gelu"})


def gemma2():
    config = tf.Gemma2Config(**SIZES, head_dim=6, hidden_activation="silu", rms_norm_eps=1e-3, attention_bias=True, query_pre_attn_scalar=7,
                             sliding_window=4, attn_logit_softcapping=0.8, final_logit_softcapping=1.5, rope_parameters=ROPE)
    write("gemma2", tf.Gemma2ForCausalLM(config), training=True)


def gemma3_rope(kind="linear"):
    return {"full_attention": {"rope_type": kind, "rope_theta": 700.0, "factor": 3.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 60.0}}


def gemma3():
    config = tf.Gemma3TextConfig(**{**SIZES, "num_hidden_layers": 3}, head_dim=6, hidden_activation="gelu", rms_norm_eps=1e-3,
                                 attention_bias=True, query_pre_attn_scalar=7, sliding_window=4, final_logit_softcapping=1.5,
                                 layer_types=["sliding_attention", "full_attention", "sliding_attention"], rope_parameters=gemma3_rope())
    write("gemma3", tf.Gemma3ForCausalLM(config))


def old_gemma3_rope(config):
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope["full_attention"].pop("rope_theta")
    config["rope_scaling"] = rope["full_attention"]
    config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
    return {**config, "sliding_window_pattern": 2, "cache_implementation": "hybrid"}


def old_gemma3():
    config = tf.Gemma3TextConfig(**SIZES, head_dim=6, rms_norm_eps=1e-3, query_pre_attn_scalar=9, sliding_window=5, tie_word_embeddings=False,
                                 sliding_window_pattern=2, rope_parameters=gemma3_rope())
    write("old_gemma3", tf.Gemma3ForCausalLM(config), edit_config=without("layer_types", "_sliding_window_pattern", then=old_gemma3_rope))


def mixtral():
    config = tf.MixtralConfig(**SIZES, head_dim=6, hidden_act="gelu", rms_norm_eps=1e-3, sliding_window=5, tie_word_embeddings=True,
                              num_local_experts=4, num_experts_per_tok=2, output_router_logits=True, router_aux_loss_coef=0.3,
                              rope_parameters=ROPE)
    write("mixtral", tf.MixtralForCausalLM(config), experts=MIXTRAL, training=True)


def qwen2_moe():
    config = tf.Qwen2MoeConfig(**{**SIZES, "num_hidden_layers": 3}, hidden_act="relu", rms_norm_eps=1e-3, use_sliding_window=True,
                               sliding_window=5, layer_types=["full_attention", "sliding_attention", "full_attention"],
                               moe_intermediate_size=8, shared_expert_intermediate_size=10, num_experts=5, num_experts_per_tok=3,
                               norm_topk_prob=True, mlp_only_layers=[1], qkv_bias=False, output_router_logits=True,
                               router_aux_loss_coef=0.2, rope_parameters=ROPE)
    write("qwen2_moe", tf.Qwen2MoeForCausalLM(config), experts=QWEN)


def old_qwen2_moe():
    config = tf.Qwen2MoeConfig(**{**SIZES, "num_hidden_layers": 3}, rms_norm_eps=1e-3, use_sliding_window=True, sliding_window=4,
                               max_window_layers=2, moe_intermediate_size=8, shared_expert_intermediate_size=10, num_experts=4,
                               num_experts_per_tok=2, decoder_sparse_step=2, tie_word_embeddings=True, rope_parameters=ROPE)
    write("old_qwen2_moe", tf.Qwen2MoeForCausalLM(config), experts=QWEN, edit_config=without("layer_types", then=base.old_rope))


def qwen3_moe():
    config = tf.Qwen3MoeConfig(**SIZES, head_dim=6, hidden_act="gelu", rms_norm_eps=1e-3, attention_bias=True, use_sliding_window=True,
                               sliding_window=5, moe_intermediate_size=8, num_experts=4, num_experts_per_tok=3, norm_topk_prob=True,
                               decoder_sparse_step=2, tie_word_embeddings=True, rope_parameters=ROPE)
    write("qwen3_moe", tf.Qwen3MoeForCausalLM(config), experts=QWEN)


def fused(make):
    """The same model, saved as transformers 5 keeps it: all experts' matrices in one tensor."""
    def save(model, directory, **options):
        return PLAIN_SAVE(model, directory, save_original_format=False, **options)

    def made():
        global write
        plain = write
        write = lambda name, model, experts, training=False: plain(name + "_fused", model)
        tf.PreTrainedModel.save_pretrained = save
        try:
            make()
        finally:
            write = plain
            tf.PreTrainedModel.save_pretrained = PLAIN_SAVE
    made.__name__ = make.__name__ + "_fused"
    return made


PLAIN_SAVE = tf.PreTrainedModel.save_pretrained


def phi3():
    rope = {"rope_type": "longrope", "rope_theta": 300.0, "short_factor": [1.0, 1.3, 1.5], "long_factor": [1.5, 2.0, 4.0],
            "partial_rotary_factor": 0.75}
    config = tf.Phi3Config(**{**SIZES, "hidden_size": 32, "max_position_embeddings": 24}, original_max_position_embeddings=8, hidden_act="gelu",
                           rms_norm_eps=1e-3, sliding_window=5, tie_word_embeddings=True, resid_pdrop=0.1, embd_pdrop=0.1, rope_parameters=rope)
    write("phi3", tf.Phi3ForCausalLM(config))


def old_phi3():
    rope = {"rope_type": "longrope", "rope_theta": 300.0, "short_factor": [1.0, 1.5], "long_factor": [1.5, 4.0]}

    def edit(config):
        config = base.old_rope(config)
        scaling = {"type": "su", "short_factor": rope["short_factor"], "long_factor": rope["long_factor"]}
        return {**config, "rope_scaling": scaling, "attention_bias": False, "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}}

    config = tf.Phi3Config(**{**SIZES, "max_position_embeddings": 24}, original_max_position_embeddings=8, rms_norm_eps=1e-3, rope_parameters=rope)
    write("old_phi3", tf.Phi3ForCausalLM(config), edit_config=edit)


NEOX = {k: v for k, v in SIZES.items() if k != "num_key_value_heads"}


def gpt_neox():
    config = tf.GPTNeoXConfig(**{**NEOX, "hidden_size": 24}, hidden_act="relu", layer_norm_eps=1e-3, use_parallel_residual=False,
                              attention_bias=False, tie_word_embeddings=True, hidden_dropout=0.1,
                              rope_parameters={"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.67})
    write("gpt_neox", tf.GPTNeoXForCausalLM(config))


def old_gpt_neox():
    def edit(config):
        rope = config.pop("rope_parameters")
        return {**config, "rotary_emb_base": rope["rope_theta"], "rotary_pct": rope["partial_rotary_factor"], "rope_scaling": None}

    config = tf.GPTNeoXConfig(**{**NEOX, "hidden_size": 24}, hidden_act="gelu_new", layer_norm_eps=1e-3,
                              rope_parameters={"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.34})
    write("old_gpt_neox", tf.GPTNeoXForCausalLM(config), edit_config=edit, rename=lambda n: n.replace("lm_head.", "embed_out."))


def gptj():
    config = tf.GPTJConfig(vocab_size=VOCAB, n_positions=21, n_embd=24, n_layer=2, n_head=3, rotary_dim=6, n_inner=30,
                           activation_function="relu", layer_norm_epsilon=1e-3, initializer_range=0.05, bos_token_id=0, eos_token_id=1,
                           resid_pdrop=0.1, attn_implementation="eager")
    write("gptj", tf.GPTJForCausalLM(config))


def falcon_config(**other):
    values = dict(vocab_size=VOCAB, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, layer_norm_epsilon=1e-3,
                  initializer_range=0.05, bos_token_id=0, eos_token_id=1, pad_token_id=2, max_position_embeddings=17, activation="relu",
                  ffn_hidden_size=30, rope_parameters=ROPE, attn_implementation="eager")
    return tf.FalconConfig(**{**values, **other})


def falcon_7b():
    write("falcon_7b", tf.FalconForCausalLM(falcon_config(bias=True, tie_word_embeddings=False)))


def falcon_40b():
    config = falcon_config(new_decoder_architecture=True, num_attention_heads=6, num_kv_heads=2,
                           rope_parameters={"rope_type": "linear", "rope_theta": 300.0, "factor": 2.0})
    write("falcon_40b", tf.FalconForCausalLM(config))


def falcon_11b():
    config = falcon_config(new_decoder_architecture=True, num_attention_heads=6, num_kv_heads=3, num_ln_in_parallel_attn=1, activation="gelu")
    write("falcon_11b", tf.FalconForCausalLM(config), edit_config=base.old_rope)


def falcon_alibi():
    """Its SDPA path: the eager one adds ALiBi twice."""
    config = falcon_config(alibi=True, multi_query=False, parallel_attn=False, bias=True, attn_implementation="sdpa")
    write("falcon_alibi", tf.FalconForCausalLM(config))


def bloom_config(**other):
    values = dict(vocab_size=VOCAB, hidden_size=24, n_layer=2, n_head=3, layer_norm_epsilon=1e-3, initializer_range=0.05, bos_token_id=0,
                  eos_token_id=1, pad_token_id=2, attn_implementation="eager")
    return tf.BloomConfig(**{**values, **other})


def bloom():
    write("bloom", tf.BloomForCausalLM(bloom_config(apply_residual_connection_post_layernorm=True, tie_word_embeddings=False)))


def old_bloom():
    def edit(config):
        config.pop("hidden_size")
        return {**config, "n_embed": 24, "num_attention_heads": 4, "attention_softmax_in_fp32": True, "offset_alibi": 100, "seq_length": 17,
                "skip_bias_add": True, "unk_token_id": 0, "n_inner": None}

    write("old_bloom", tf.BloomForCausalLM(bloom_config(n_head=4)), edit_config=edit, rename=lambda n: n.removeprefix("transformer."))


def mpt():
    config = tf.MptConfig(vocab_size=VOCAB, d_model=24, n_heads=3, n_layers=2, max_seq_len=17, layer_norm_epsilon=1e-3, initializer_range=0.05,
                          bos_token_id=0, eos_token_id=1, attn_config={"clip_qkv": 0.3, "softmax_scale": 0.3}, attn_implementation="eager")
    write("mpt", tf.MptForCausalLM(config))


OPT = dict(vocab_size=VOCAB, hidden_size=24, num_hidden_layers=2, ffn_dim=30, max_position_embeddings=17, num_attention_heads=3, init_std=0.05,
           bos_token_id=0, eos_token_id=1, pad_token_id=2, dropout=0.0, attn_implementation="eager")


def opt():
    write("opt", tf.OPTForCausalLM(tf.OPTConfig(**OPT, activation_function="gelu", tie_word_embeddings=False)))


def opt_350m():
    config = tf.OPTConfig(**OPT, do_layer_norm_before=False, word_embed_proj_dim=10)
    write("opt_350m", tf.OPTForCausalLM(config))


def opt_without_affine():
    """As Galactica's: no biases, norms without weights."""
    config = tf.OPTConfig(**OPT, enable_bias=False, layer_norm_elementwise_affine=False, activation_function="gelu")
    write("opt_without_affine", tf.OPTForCausalLM(config), rename=lambda n: n.removeprefix("model."))


def gpt_neo():
    config = tf.GPTNeoConfig(vocab_size=VOCAB, hidden_size=24, num_layers=3, num_heads=3, max_position_embeddings=17, intermediate_size=30,
                             attention_types=[[["global", "local"], 1], [["local"], 1]], window_size=4, activation_function="relu",
                             layer_norm_epsilon=1e-3, initializer_range=0.05, bos_token_id=0, eos_token_id=1, attn_implementation="eager")
    write("gpt_neo", tf.GPTNeoForCausalLM(config))


def phi():
    config = tf.PhiConfig(**{**SIZES, "hidden_size": 32}, hidden_act="relu", layer_norm_eps=1e-3, qk_layernorm=True, resid_pdrop=0.1,
                          rope_parameters={"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.75})
    write("phi", tf.PhiForCausalLM(config))


def old_phi():
    config = tf.PhiConfig(**SIZES, layer_norm_eps=1e-3, rope_parameters={**ROPE, "partial_rotary_factor": 0.5})

    def edit(values):
        values = base.old_rope(values)
        return {**values, "partial_rotary_factor": 0.5}

    write("old_phi", tf.PhiForCausalLM(config), edit_config=edit)


def stablelm():
    config = tf.StableLmConfig(**{**SIZES, "hidden_size": 32}, hidden_act="gelu", layer_norm_eps=1e-3, use_qkv_bias=True, qk_layernorm=True,
                               use_parallel_residual=True, tie_word_embeddings=True,
                               rope_parameters={"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5})
    write("stablelm", tf.StableLmForCausalLM(config))


def stablelm_sequential():
    config = tf.StableLmConfig(**{**SIZES, "hidden_size": 32}, layer_norm_eps=1e-3, hidden_dropout=0.1,
                               rope_parameters={"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.25})
    write("stablelm_sequential", tf.StableLmForCausalLM(config))


def cohere():
    config = tf.CohereConfig(**SIZES, hidden_act="gelu", layer_norm_eps=1e-3, use_qk_norm=True, logit_scale=0.4, attention_bias=True,
                             tie_word_embeddings=False, rope_parameters=ROPE)
    write("cohere", tf.CohereForCausalLM(config))


def old_cohere():
    config = tf.CohereConfig(**SIZES, layer_norm_eps=1e-3, logit_scale=0.7, rope_parameters=ROPE)
    write("old_cohere", tf.CohereForCausalLM(config), edit_config=base.old_rope)


def olmo2():
    config = tf.Olmo2Config(**SIZES, hidden_act="gelu", rms_norm_eps=1e-3, attention_bias=True, tie_word_embeddings=True, rope_parameters=ROPE)
    write("olmo2", tf.Olmo2ForCausalLM(config))


def granite():
    config = tf.GraniteConfig(**SIZES, hidden_act="gelu", rms_norm_eps=1e-3, attention_bias=True, mlp_bias=True, tie_word_embeddings=True,
                              embedding_multiplier=3.0, logits_scaling=1.7, residual_multiplier=0.6, attention_multiplier=0.3,
                              rope_parameters=ROPE)
    write("granite", tf.GraniteForCausalLM(config))


def smollm3():
    config = tf.SmolLM3Config(**{**SIZES, "num_hidden_layers": 3}, hidden_act="gelu", rms_norm_eps=1e-3, attention_bias=True, mlp_bias=True,
                              tie_word_embeddings=False, no_rope_layers=[1, 0, 0], use_sliding_window=True, sliding_window=5,
                              layer_types=["full_attention", "sliding_attention", "full_attention"], rope_parameters=ROPE)
    write("smollm3", tf.SmolLM3ForCausalLM(config))


def old_smollm3():
    config = tf.SmolLM3Config(**SIZES, rms_norm_eps=1e-3, no_rope_layer_interval=2, use_sliding_window=True, sliding_window=4,
                              rope_parameters=ROPE)
    write("old_smollm3", tf.SmolLM3ForCausalLM(config), edit_config=without("layer_types", "no_rope_layers", then=base.old_rope))


def starcoder2():
    config = tf.Starcoder2Config(**SIZES, hidden_act="relu", norm_epsilon=1e-3, sliding_window=5, use_bias=True, tie_word_embeddings=False,
                                 residual_dropout=0.1, embedding_dropout=0.1, rope_parameters=ROPE)
    write("starcoder2", tf.Starcoder2ForCausalLM(config))


ALL = [mistral, mistral_classification, qwen2, old_qwen2, qwen3, gemma, old_gemma, gemma2, gemma3, old_gemma3, mixtral, qwen2_moe,
       old_qwen2_moe, qwen3_moe, phi3, old_phi3, gpt_neox, old_gpt_neox, gptj, falcon_7b, falcon_40b, falcon_11b, falcon_alibi, bloom,
       old_bloom, mpt, opt, opt_350m, opt_without_affine, gpt_neo, phi, old_phi, stablelm, stablelm_sequential, cohere, old_cohere, olmo2,
       granite, smollm3, old_smollm3, starcoder2, fused(mixtral), fused(qwen2_moe), fused(qwen3_moe)]

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for i, make in enumerate(ALL):
        if not chosen or make.__name__ in chosen:
            torch.manual_seed(100 + i)
            make()
            print(make.__name__, flush=True)
