// What llama.cpp's keys are called in config.json, architecture by architecture
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, "Standardized key-value pairs").
#include "attune/bundle/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <map>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/gguf_model_parts.h"

namespace attune {

namespace {

using Parts = std::vector<GgufConfigPart>;
constexpr GgufKeyNeed optional = GgufKeyNeed::optional;

struct ConfigForm {
  std::string class_name;
  Parts parts;
};

Parts operator+(Parts a, const Parts& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Parts sizes() {
  return {integer_key("hidden_size", "embedding_length"), integer_key("intermediate_size", "feed_forward_length"),
          integer_key("num_hidden_layers", "block_count"), integer_key("num_attention_heads", "attention.head_count"),
          integer_key("max_position_embeddings", "context_length", optional)};
}

Parts grouped() {
  return {integer_key("num_key_value_heads", "attention.head_count_kv", optional),
          integer_key("head_dim", "attention.key_length", optional)};
}

GgufConfigPart rms() { return number_key("rms_norm_eps", "attention.layer_norm_rms_epsilon"); }
GgufConfigPart layer_norm(const std::string& name) { return number_key(name, "attention.layer_norm_epsilon"); }
GgufConfigPart window() { return integer_key("sliding_window", "attention.sliding_window", optional); }

/// Llama and what has its sizes, positions and norms.
Parts llama_like() {
  return sizes() + grouped() + Parts{rms(), rope_part(), tied_part(), fixed_key("hidden_act", "silu")};
}

/// Keys that older configs have beside the ones that are read, and that nothing reads.
GgufConfigPart unread_key(const std::string& published) {
  return {{published}, [](const GgufConfigSource&, Json&) {}, [](const Json&, GgufConfigTarget&) {}};
}

Parts gemma_like() {
  return sizes() + grouped() +
         Parts{rms(),
               rope_part(),
               tied_part(),
               fixed_key("hidden_activation", "gelu_pytorch_tanh"),
               unread_key("hidden_act"),
               fixed_key("attention_bias", false)};
}

Parts experts(const std::string& count) {
  return {integer_key(count, "expert_count"), integer_key("num_experts_per_tok", "expert_used_count")};
}

std::map<std::string, ConfigForm> all_forms() {
  const Parts head_dim_of_phi = {rotary_share_part("partial_rotary_factor")};
  std::map<std::string, ConfigForm> forms;
  const Parts llama = llama_like() + Parts{tensor_key("attention_bias", "blk.0.attn_q.bias"),
                                           tensor_key("mlp_bias", "blk.0.ffn_up.bias")};
  forms["llama"] = {"LlamaForCausalLM", llama};
  forms["mistral"] = {"MistralForCausalLM", llama_like() + Parts{window()}};
  forms["mixtral"] = {"MixtralForCausalLM", llama_like() + experts("num_local_experts") + Parts{window()}};
  forms["smollm3"] = {"SmolLM3ForCausalLM", llama + Parts{no_rope_part()}};
  forms["granite"] = {"GraniteForCausalLM",
                      llama + Parts{number_key("attention_multiplier", "attention.scale", optional),
                                    number_key("embedding_multiplier", "embedding_scale", optional),
                                    number_key("residual_multiplier", "residual_scale", optional),
                                    number_key("logits_scaling", "logit_scale", optional)}};
  forms["qwen2"] = {"Qwen2ForCausalLM", llama_like() + Parts{qwen_window_part()}};
  const Parts qwen_experts = {either_key("num_experts", "num_local_experts", "expert_count"),
                              integer_key("num_experts_per_tok", "expert_used_count"),
                              integer_key("moe_intermediate_size", "expert_feed_forward_length"),
                              fixed_key("decoder_sparse_step", 1), qwen_window_part()};
  forms["qwen2_moe"] = {"Qwen2MoeForCausalLM",
                        llama_like() + qwen_experts +
                            Parts{integer_key("shared_expert_intermediate_size", "expert_shared_feed_forward_length"),
                                  fixed_key("norm_topk_prob", false), fixed_key("qkv_bias", true)}};
  forms["qwen3"] = {"Qwen3ForCausalLM",
                    llama_like() + Parts{tensor_key("attention_bias", "blk.0.attn_q.bias"), qwen_window_part()}};
  forms["qwen3_moe"] = {"Qwen3MoeForCausalLM", llama_like() + qwen_experts + Parts{fixed_key("norm_topk_prob", true)}};
  forms["gemma"] = {"GemmaForCausalLM", gemma_like()};
  forms["gemma2"] = {"Gemma2ForCausalLM",
                     gemma_like() + Parts{number_key("attn_logit_softcapping", "attn_logit_softcapping", optional),
                                          number_key("final_logit_softcapping", "final_logit_softcapping", optional),
                                          window_pattern_part(2), query_scale_part(46)}};
  forms["gemma3_text"] = {
      "Gemma3ForCausalLM",
      gemma_like() + Parts{number_key("final_logit_softcapping", "final_logit_softcapping", optional),
                           window_rope_part(), window_pattern_part(6), query_scale_part(62)}};
  forms["phi"] = {"PhiForCausalLM",
                  sizes() + grouped() + head_dim_of_phi +
                      Parts{layer_norm("layer_norm_eps"), rope_part(), fixed_key("tie_word_embeddings", false),
                            fixed_key("hidden_act", "gelu_new"), fixed_key("qk_layernorm", false)}};
  forms["phi3"] = {"Phi3ForCausalLM", llama_like() + head_dim_of_phi + Parts{phi3_window_part()}};
  forms["stablelm"] = {"StableLmForCausalLM", sizes() + grouped() + head_dim_of_phi +
                                                  Parts{layer_norm("layer_norm_eps"), rope_part(), tied_part(),
                                                        fixed_key("hidden_act", "silu"),
                                                        flag_key("use_parallel_residual", "use_parallel_residual"),
                                                        tensor_key("use_qkv_bias", "blk.0.attn_q.bias"),
                                                        tensor_key("qk_layernorm", "blk.0.attn_q_norm.weight")}};
  forms["olmo2"] = {"Olmo2ForCausalLM", llama_like()};
  const Parts cohere = sizes() + grouped() +
                       Parts{layer_norm("layer_norm_eps"), rope_part(), tied_part(), fixed_key("hidden_act", "silu"),
                             number_key("logit_scale", "logit_scale")};
  forms["cohere"] = {"CohereForCausalLM", cohere + Parts{tensor_key("use_qk_norm", "blk.0.attn_q_norm.weight"),
                                                         tensor_key("attention_bias", "blk.0.attn_q.bias")}};
  forms["cohere2"] = {"Cohere2ForCausalLM", cohere + Parts{window_pattern_part(4)}};
  forms["starcoder2"] = {"Starcoder2ForCausalLM", sizes() + grouped() +
                                                      Parts{layer_norm("norm_epsilon"), rope_part(), tied_part(),
                                                            fixed_key("hidden_act", "gelu_pytorch_tanh"),
                                                            tensor_key("use_bias", "blk.0.attn_q.bias"), window()}};
  forms["gpt2"] = {"GPT2LMHeadModel",
                   {integer_key("n_embd", "embedding_length"), integer_key("n_layer", "block_count"),
                    integer_key("n_head", "attention.head_count"), integer_key("n_positions", "context_length"),
                    inner_part("n_inner"), layer_norm("layer_norm_epsilon"), tied_part(),
                    fixed_key("activation_function", "gelu_new"), fixed_key("scale_attn_weights", true),
                    fixed_key("scale_attn_by_inverse_layer_idx", false)}};
  forms["gpt_neox"] = {
      "GPTNeoXForCausalLM",
      sizes() + Parts{layer_norm("layer_norm_eps"), rope_part(), neox_base_part(), rotary_share_part("rotary_pct"),
                      tied_part(), flag_key("use_parallel_residual", "use_parallel_residual"),
                      fixed_key("hidden_act", "gelu"), tensor_key("attention_bias", "blk.0.attn_qkv.bias")}};
  forms["falcon"] = {
      "FalconForCausalLM",
      {either_key("hidden_size", "n_embed", "embedding_length"), integer_key("num_hidden_layers", "block_count"),
       integer_key("num_attention_heads", "attention.head_count"), layer_norm("layer_norm_epsilon"), falcon_part(),
       rope_part(), tied_part(), fixed_key("parallel_attn", true), fixed_key("alibi", false),
       fixed_key("activation", "gelu"), tensor_key("bias", "blk.0.attn_qkv.bias"),
       integer_key("max_position_embeddings", "context_length", optional)}};
  forms["bloom"] = {
      "BloomForCausalLM",
      {either_key("hidden_size", "n_embed", "embedding_length"),
       either_key("n_layer", "num_hidden_layers", "block_count"),
       either_key("n_head", "num_attention_heads", "attention.head_count"), layer_norm("layer_norm_epsilon"),
       tied_part(), fixed_key("apply_residual_connection_post_layernorm", false), inner_part("ffn_hidden_size")}};
  forms["mpt"] = {
      "MptForCausalLM",
      {integer_key("d_model", "embedding_length"), integer_key("n_layers", "block_count"),
       integer_key("n_heads", "attention.head_count"), integer_key("max_seq_len", "context_length"), mpt_part(),
       number_key("layer_norm_epsilon", "attention.layer_norm_epsilon", optional), tied_part()}};
  forms["bert"] = {"BertModel", sizes() + Parts{layer_norm("layer_norm_eps"), fixed_key("hidden_act", "gelu")}};
  // As Nomic publishes it; how its training ran is not said.
  forms["nomic_bert"] = {"NomicBertModel",
                         {integer_key("n_embd", "embedding_length"),
                          integer_key("n_inner", "feed_forward_length"),
                          integer_key("n_layer", "block_count"),
                          integer_key("n_head", "attention.head_count"),
                          integer_key("n_positions", "context_length", optional),
                          layer_norm("layer_norm_epsilon"),
                          number_key("rotary_emb_base", "rope.freq_base", optional),
                          tensor_key("qkv_proj_bias", "blk.0.attn_qkv.bias"),
                          tensor_key("mlp_fc1_bias", "blk.0.ffn_up.bias"),
                          tensor_key("mlp_fc2_bias", "blk.0.ffn_down.bias"),
                          fixed_key("activation_function", "swiglu"),
                          fixed_key("rotary_emb_fraction", 1.0),
                          fixed_key("scale_attn_weights", true),
                          unread_key("pad_vocab_size_multiple"),
                          unread_key("auto_map"),
                          unread_key("max_trained_positions"),
                          unread_key("dense_seq_output"),
                          unread_key("fused_bias_fc"),
                          unread_key("fused_dropout_add_ln"),
                          unread_key("use_flash_attn"),
                          unread_key("use_xentropy"),
                          unread_key("last_layer_subset"),
                          unread_key("tie_word_embeddings")}};
  forms["t5"] = {
      "T5ForConditionalGeneration",
      {integer_key("d_model", "embedding_length"), integer_key("d_ff", "feed_forward_length"),
       integer_key("num_layers", "block_count"), integer_key("num_decoder_layers", "decoder_block_count", optional),
       integer_key("num_heads", "attention.head_count"), integer_key("d_kv", "attention.key_length"),
       number_key("layer_norm_epsilon", "attention.layer_norm_rms_epsilon"),
       integer_key("relative_attention_num_buckets", "attention.relative_buckets_count"),
       integer_key("decoder_start_token_id", "decoder_start_token_id", optional),
       integer_key("n_positions", "context_length", optional), fixed_key("relative_attention_max_distance", 128),
       t5_feedforward_part(), tied_part()}};
  return forms;
}

const ConfigForm& form_of(const std::string& model_type) {
  static const std::map<std::string, ConfigForm> forms = all_forms();
  auto found = forms.find(model_type);
  check(found != forms.end(), "the config of a model of type \"{}\" has no form in GGUF that this program knows",
        model_type);
  return found->second;
}

/// Keys that say nothing about what the model computes, or what the tokenizer's metadata say.
bool harmless(const std::string& key) {
  static const std::vector<std::string> known = {"model_type",
                                                 "architectures",
                                                 "vocab_size",
                                                 "initializer_range",
                                                 "initializer_factor",
                                                 "layer_norm_init",
                                                 "use_cache",
                                                 "torch_dtype",
                                                 "dtype",
                                                 "transformers_version",
                                                 "_name_or_path",
                                                 "return_dict",
                                                 "id2label",
                                                 "label2id",
                                                 "num_labels",
                                                 "problem_type",
                                                 "pretraining_tp",
                                                 "bos_token_id",
                                                 "eos_token_id",
                                                 "pad_token_id",
                                                 "unk_token_id",
                                                 "sep_token_id",
                                                 "cls_token_id",
                                                 "mask_token_id",
                                                 "router_aux_loss_coef",
                                                 "output_router_logits",
                                                 "router_jitter_noise",
                                                 "attn_implementation",
                                                 "_attn_implementation",
                                                 "gradient_checkpointing",
                                                 "task_specific_params",
                                                 "summary_type",
                                                 "summary_use_proj",
                                                 "summary_activation",
                                                 "summary_proj_to_labels",
                                                 "summary_first_dropout",
                                                 "n_ctx",
                                                 "resid_pdrop",
                                                 "embd_pdrop",
                                                 "emb_pdrop",
                                                 "attn_pdrop",
                                                 "model_max_length",
                                                 "slow_but_exact",
                                                 "type_vocab_size",
                                                 "position_embedding_type",
                                                 "cache_implementation",
                                                 "is_encoder_decoder"};
  return std::ranges::find(known, key) != known.end() || key.find("dropout") != std::string::npos;
}

/// Layers that are all alike, which is what a file without a window says.
bool all_layers_see_all(const std::string& key, const Json& value) {
  return key == "layer_types" && value.is_array() &&
         std::ranges::all_of(value, [](const Json& type) { return type == "full_attention"; });
}

bool says_nothing(const Json& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

void read_token_ids(const GgufConfigSource& source, Json& config) {
  const GgufMetadata& metadata = source.metadata();
  if (auto id = metadata.integer("tokenizer.ggml.bos_token_id")) config["bos_token_id"] = *id;
  // Null where there is none: for some models an absent key stands for an id.
  const std::optional<std::int64_t> pad = metadata.integer("tokenizer.ggml.padding_token_id");
  config["pad_token_id"] = pad ? Json(*pad) : Json();
  const std::optional<std::int64_t> eos = metadata.integer("tokenizer.ggml.eos_token_id");
  const std::optional<std::int64_t> turn = metadata.integer("tokenizer.ggml.eot_token_id");
  if (eos && turn && eos != turn)
    config["eos_token_id"] = {*eos, *turn};
  else if (eos)
    config["eos_token_id"] = *eos;
}

/// With what the reader of config.json took for keys that have a place in the file and are not there. A 0 says that
/// there is none of something, as absence does in a file.
Json completed(Json config, const Json& defaults, const ConfigForm& form) {
  for (const GgufConfigPart& part : form.parts)
    for (const std::string& key : part.published) {
      const auto found = defaults.find(key);
      if (found != defaults.end() && *found != 0 && (!config.contains(key) || config[key].is_null()))
        config[key] = *found;
    }
  return config;
}

}  // namespace

Json gguf_config(const GgufFile& file, const GgufArchitecture& architecture) {
  return within("reading " + file.path().string(), [&] {
    const ConfigForm& form = form_of(architecture.model_type);
    const GgufConfigSource source(file, architecture.name);
    Json config = {{"model_type", architecture.model_type}, {"architectures", {form.class_name}}};
    const GgufTensorInfo* words = source.tensor("token_embd.weight");
    check(words && words->shape.rank() == 2, "it has no table of embeddings, token_embd.weight");
    config["vocab_size"] = words->shape[0];
    if (const GgufTensorInfo* types = source.tensor("token_types.weight"); types && types->shape.rank() == 2)
      config["type_vocab_size"] = types->shape[0];
    for (const GgufConfigPart& part : form.parts) part.read(source, config);
    read_token_ids(source, config);
    return config;
  });
}

GgufConfigTarget gguf_config_target(const Json& said, const Json& defaults, const GgufArchitecture& architecture) {
  const ConfigForm& form = form_of(architecture.model_type);
  const Json config = completed(said, defaults, form);
  GgufConfigTarget target{architecture.name};
  target.integer("vocab_size", required_integer(config, "vocab_size"));
  std::vector<std::string> known = {"seq_length"};
  for (const GgufConfigPart& part : form.parts) {
    part.write(config, target);
    known.insert(known.end(), part.published.begin(), part.published.end());
  }
  if (auto width = target.metadata.integer(target.key("attention.key_length")))
    target.integer("attention.value_length", *width);
  // llama.cpp reads no file without it, and takes this number where a model has no bound of its own (ALiBi).
  if (!target.metadata.find(target.key("context_length")))
    target.integer("context_length", config.contains("seq_length") ? required_integer(config, "seq_length") : 2048);
  for (const auto& [key, value] : config.items())
    check(harmless(key) || says_nothing(value) || all_layers_see_all(key, value) ||
              std::ranges::find(known, key) != known.end(),
          "config.json's \"{}\" is {}: a GGUF file of {} has no place for it", key, value.dump(), architecture.name);
  return target;
}

}  // namespace attune
