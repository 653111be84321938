// What decoders' configs may hold: every key is read, known to change nothing, or an error that names it.
#include <gtest/gtest.h>

#include <filesystem>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/models/architecture.h"

namespace attune {
namespace {

Json golden_config(const std::string& name) {
  return read_json(Path(ATTUNE_GOLDEN_DIR) / "models" / name / "config.json");
}

std::string error_of(const Json& config) {
  try {
    build_model(config, "test", {.checkpoint = nullptr, .initial = {.seed = 1}});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DecoderConfig, WhatIsNotHonouredIsAnErrorThatNamesTheKey) {
  struct Trial {
    const char *golden, *key;
    Json value;
  };
  for (const Trial& trial : std::vector<Trial>{
           {"mistral", "sliding_windows", 4},
           {"mistral", "sliding_window", 0},
           {"qwen2", "use_mrope", true},
           {"qwen2", "layer_types", {"full_attention"}},
           {"qwen2", "layer_types", {"full_attention", "chunked_attention"}},
           {"gemma", "use_bidirectional_attention", true},
           {"gemma", "hidden_activation", "relu"},
           {"gemma3", "attn_logit_softcapping", 50.0},
           {"gemma3", "rope_parameters", {{"rope_type", "default"}, {"rope_theta", 10.0}}},
           {"mixtral", "router_jitter_noise", 0.1},
           {"mixtral", "num_experts_per_tok", 5},
           {"qwen2_moe", "num_experts_per_tok", 6},
           {"phi3", "attention_bias", true},
           {"phi3", "full_attn_mod", 2},
           {"gpt_neox", "rope_theta", 7.0},
           {"gptj", "rotary_dim", 5},
           {"gptj", "rotary_dim", nullptr},
           {"falcon_40b", "parallel_attn", false},
           {"falcon_7b", "num_ln_in_parallel_attn", 2},
           {"falcon_40b", "num_kv_heads", 4},
           {"opt", "layerdrop", 0.1},
           {"mpt", "logit_scale", 0.5},
           {"mpt", "no_bias", false},
           {"mpt", "expansion_ratio", 2},
           {"gpt_neo", "attention_types", Json::array({{{"global", "local"}, 2}})},
           {"gpt_neo", "attention_layers", {"global", "global", "global"}},
           {"smollm3", "no_rope_layers", {1, 0}},
           {"starcoder2", "norm_type", "rms_norm"},
           {"stablelm", "num_key_value_heads", 3},
       }) {
    Json config = golden_config(trial.golden);
    config[trial.key] = trial.value;
    const std::string error = error_of(config);
    EXPECT_NE(error.find(std::string("\"") + trial.key), std::string::npos)
        << trial.golden << ", " << trial.key << ": " << error;
  }
  for (const char* key : {"prefix_lm", "qk_ln"}) {
    Json config = golden_config("mpt");
    config["attn_config"][key] = true;
    EXPECT_NE(error_of(config).find(key), std::string::npos);
  }
}

// The keys that models were published with, at a small size.
TEST(DecoderConfig, PublishedKeysAreRead) {
  const char* all[] = {
      R"({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
          "hidden_act": "silu", "hidden_size": 16, "initializer_range": 0.02, "intermediate_size": 20,
          "max_position_embeddings": 32768, "num_attention_heads": 4, "num_hidden_layers": 1, "num_key_value_heads": 2,
          "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": null, "tie_word_embeddings": false,
          "torch_dtype": "bfloat16", "transformers_version": "4.34.0", "use_cache": true, "vocab_size": 40})",
      R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "hidden_size": 16,
          "intermediate_size": 20, "max_window_layers": 28, "num_attention_heads": 4, "num_hidden_layers": 1,
          "num_key_value_heads": 2, "rope_theta": 1e6, "sliding_window": 131072, "use_mrope": false,
          "use_sliding_window": false, "vocab_size": 40})",
      R"({"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "attention_bias": false, "head_dim": 8,
          "hidden_act": "gelu", "hidden_activation": null, "hidden_size": 16, "intermediate_size": 20,
          "num_attention_heads": 2, "num_hidden_layers": 1, "num_key_value_heads": 1, "pad_token_id": 0,
          "rope_scaling": null, "rope_theta": 10000.0, "vocab_size": 40})",
      R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "attn_logit_softcapping": 50.0,
          "cache_implementation": "hybrid", "final_logit_softcapping": 30.0, "head_dim": 8,
          "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 16,
          "intermediate_size": 20, "num_attention_heads": 2, "num_hidden_layers": 2, "num_key_value_heads": 1,
          "query_pre_attn_scalar": 256, "sliding_window": 4096, "vocab_size": 40})",
      R"({"model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "attn_logit_softcapping": null,
          "cache_implementation": "hybrid", "final_logit_softcapping": null, "head_dim": 8, "hidden_size": 16,
          "hidden_activation": "gelu_pytorch_tanh", "intermediate_size": 20, "num_attention_heads": 2,
          "num_hidden_layers": 2, "num_key_value_heads": 1, "query_pre_attn_scalar": 256,
          "rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": 512,
          "sliding_window_pattern": 6, "vocab_size": 40})",
      R"({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "decoder_sparse_step": 1, "head_dim": 8,
          "hidden_size": 16, "intermediate_size": 20, "max_window_layers": 48, "mlp_only_layers": [],
          "moe_intermediate_size": 8, "norm_topk_prob": true, "num_attention_heads": 2, "num_experts": 4,
          "num_experts_per_tok": 2, "num_hidden_layers": 1, "num_key_value_heads": 1, "output_router_logits": false,
          "rope_theta": 1e6, "router_aux_loss_coef": 0.001, "sliding_window": null, "use_sliding_window": false,
          "vocab_size": 40})",
      R"({"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "attention_bias": false, "embd_pdrop": 0.0,
          "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}, "full_attn_mod": 1, "hidden_size": 16,
          "intermediate_size": 20, "interpolate_factor": 1, "lm_head_bias": false, "mlp_bias": false,
          "num_attention_heads": 2, "num_hidden_layers": 1, "num_key_value_heads": 1, "pad_token_id": 32,
          "original_max_position_embeddings": 4096, "partial_rotary_factor": 0.75, "resid_pdrop": 0.0,
          "rope_scaling": null, "sliding_window": 2047, "vocab_size": 40})",
      R"({"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "attention_probs_dropout_prob": 0,
          "hidden_dropout_prob": 0, "hidden_act": "gelu_fast", "hidden_size": 16, "intermediate_size": 20,
          "num_attention_heads": 2, "num_hidden_layers": 1, "rotary_emb_base": 10000, "rotary_pct": 0.25,
          "use_parallel_residual": true, "vocab_size": 40})",
      R"({"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "activation_function": "gelu_new",
          "attn_pdrop": 0.0, "embd_pdrop": 0.0, "gradient_checkpointing": false, "n_embd": 16, "n_head": 2,
          "n_inner": null, "n_layer": 1, "n_positions": 32, "resid_pdrop": 0.0, "rotary": true, "rotary_dim": 4,
          "scale_attn_weights": true, "summary_activation": null, "summary_type": "cls_index",
          "summary_first_dropout": 0.1, "summary_proj_to_labels": true, "summary_use_proj": true,
          "task_specific_params": {}, "tie_word_embeddings": false, "tokenizer_class": "GPT2Tokenizer",
          "vocab_size": 40})",
      R"({"model_type": "falcon", "architectures": ["FalconForCausalLM"], "alibi": false, "attention_dropout": 0.0,
          "apply_residual_connection_post_layernorm": false, "bias": false, "hidden_dropout": 0.0, "hidden_size": 16,
          "multi_query": true, "new_decoder_architecture": false, "num_attention_heads": 2, "num_hidden_layers": 1,
          "parallel_attn": true, "vocab_size": 40})",
      R"({"model_type": "mpt", "architectures": ["MPTForCausalLM"], "attn_config": {"alibi": true,
          "alibi_bias_max": 8, "attn_impl": "torch", "attn_pdrop": 0, "attn_type": "multihead_attention",
          "attn_uses_sequence_id": false, "clip_qkv": null, "prefix_lm": false, "qk_ln": false,
          "softmax_scale": null}, "d_model": 16, "emb_pdrop": 0, "embedding_fraction": 1.0, "expansion_ratio": 4,
          "init_config": {}, "init_device": "cpu", "learned_pos_emb": true, "logit_scale": null, "max_seq_len": 2048,
          "n_heads": 2, "n_layers": 1, "no_bias": true, "norm_type": "low_precision_layernorm", "resid_pdrop": 0,
          "tokenizer_name": "x", "use_cache": false, "verbose": 0, "vocab_size": 40})",
      R"({"model_type": "opt", "architectures": ["OPTForCausalLM"], "_remove_final_layer_norm": false,
          "activation_dropout": 0.0, "activation_function": "relu", "attention_dropout": 0.0, "dropout": 0.1,
          "do_layer_norm_before": true, "ffn_dim": 20, "hidden_size": 16, "init_std": 0.02, "layerdrop": 0.0,
          "max_position_embeddings": 32, "num_attention_heads": 2, "num_hidden_layers": 1, "pad_token_id": 1,
          "prefix": "</s>", "vocab_size": 40, "word_embed_proj_dim": 16})",
      R"({"model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"], "activation_function": "gelu",
          "attention_softmax_in_fp32": true, "hidden_act": "gelu_pytorch_tanh", "hidden_size": 16,
          "intermediate_size": 20, "layer_norm_epsilon": 1e-05, "mlp_type": "default", "norm_epsilon": 1e-05,
          "norm_type": "layer_norm", "num_attention_heads": 2, "num_hidden_layers": 1, "num_key_value_heads": 1,
          "scale_attention_softmax_in_fp32": true, "scale_attn_weights": true, "sliding_window": 4096,
          "use_bias": true, "vocab_size": 40})",
      R"({"model_type": "cohere", "architectures": ["CohereForCausalLM"], "hidden_size": 16, "intermediate_size": 20,
          "logit_scale": 0.0625, "model_max_length": 131072, "num_attention_heads": 2, "num_hidden_layers": 1,
          "num_key_value_heads": 2, "rope_theta": 8e6, "use_qk_norm": false, "vocab_size": 40})",
      R"({"model_type": "smollm3", "architectures": ["SmolLM3ForCausalLM"], "hidden_size": 16, "intermediate_size": 20,
          "layer_types": ["full_attention"], "max_window_layers": 28, "no_rope_layer_interval": 4,
          "no_rope_layers": [1], "num_attention_heads": 2, "num_hidden_layers": 1, "num_key_value_heads": 1,
          "pretraining_tp": 2, "rope_scaling": null, "rope_theta": 5e6, "sliding_window": null,
          "use_sliding_window": false, "vocab_size": 40})"};
  for (const char* text : all) EXPECT_EQ(error_of(parse_json(text, "test")), "");
}

TEST(DecoderConfig, ARunsDropoutReachesEveryRate) {
  for (const char* golden : {"mpt", "opt", "gpt_neo", "phi3", "falcon_7b"}) {
    Json config = golden_config(golden);
    set_dropout(config, 0.3);
    EXPECT_EQ(error_of(config), "") << golden;
  }
  Json config = golden_config("mpt");
  set_dropout(config, 0.3);
  EXPECT_EQ(config["attn_config"]["attn_pdrop"], 0.3);
}

}  // namespace
}  // namespace attune
