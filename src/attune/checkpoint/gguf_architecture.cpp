// The names on both sides, architecture by architecture: those of GGUF from its specification
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, "Standardized tensor names") and from files that
// llama.cpp's converter wrote; those of Hugging Face from the published checkpoints.
#include "attune/checkpoint/gguf_architecture.h"

#include <fmt/format.h>

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

namespace {

using enum GgufChange;
using Rules = std::vector<GgufNameRule>;

Rules operator+(Rules a, const Rules& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Rules of one layer: `at` stands before every published name.
Rules layer(const std::string& file, const std::string& at, const Rules& parts) {
  Rules rules;
  for (const GgufNameRule& part : parts)
    rules.push_back(
        {file + part.file, at + part.published, part.change, part.beside.empty() ? std::string() : file + part.beside});
  return rules;
}

Rules in_layers(const Rules& parts) { return layer("blk.{}.", "model.layers.{}.", parts); }

/// Outside of the layers of Llama and what is named as it is.
Rules ends(GgufChange norm = none) {
  return {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm", norm}, {"output", "lm_head"}};
}

Rules attention(bool interleaved) {
  return in_layers({{"attn_q", "self_attn.q_proj", interleaved ? query_rows : none},
                    {"attn_k", "self_attn.k_proj", interleaved ? key_rows : none},
                    {"attn_v", "self_attn.v_proj"},
                    {"attn_output", "self_attn.o_proj"}});
}

Rules pre_norms(GgufChange change = none) {
  return in_layers({{"attn_norm", "input_layernorm", change}, {"ffn_norm", "post_attention_layernorm", change}});
}

/// Gemma 2 and 3: norms before and behind both halves.
Rules four_norms() {
  return in_layers({{"attn_norm", "input_layernorm", one_more},
                    {"post_attention_norm", "post_attention_layernorm", one_more},
                    {"ffn_norm", "pre_feedforward_layernorm", one_more},
                    {"post_ffw_norm", "post_feedforward_layernorm", one_more}});
}

Rules head_norms(GgufChange change = none) {
  return in_layers({{"attn_q_norm", "self_attn.q_norm", change}, {"attn_k_norm", "self_attn.k_norm", change}});
}

Rules gated() {
  return in_layers({{"ffn_gate", "mlp.gate_proj"}, {"ffn_up", "mlp.up_proj"}, {"ffn_down", "mlp.down_proj"}});
}

Rules mixtral_experts() {
  return in_layers({{"ffn_gate_inp", "block_sparse_moe.gate"},
                    {"ffn_gate_exps", "block_sparse_moe.experts.[].w1"},
                    {"ffn_down_exps", "block_sparse_moe.experts.[].w2"},
                    {"ffn_up_exps", "block_sparse_moe.experts.[].w3"}});
}

Rules qwen_experts() {
  return in_layers({{"ffn_gate_inp", "mlp.gate"},
                    {"ffn_gate_exps", "mlp.experts.[].gate_proj"},
                    {"ffn_up_exps", "mlp.experts.[].up_proj"},
                    {"ffn_down_exps", "mlp.experts.[].down_proj"}});
}

Rules shared_expert() {
  return in_layers({{"ffn_gate_inp_shexp", "mlp.shared_expert_gate", one_row},
                    {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
                    {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
                    {"ffn_down_shexp", "mlp.shared_expert.down_proj"}});
}

Rules llama_names(bool interleaved) { return ends() + attention(interleaved) + pre_norms() + gated(); }

Rules gpt2_names() {
  return Rules{{"token_embd", "transformer.wte"},
               {"position_embd", "transformer.wpe"},
               {"output_norm", "transformer.ln_f"},
               {"output", "lm_head"}} +
         layer("blk.{}.", "transformer.h.{}.",
               {{"attn_norm", "ln_1"},
                {"attn_qkv", "attn.c_attn", transposed},
                {"attn_output", "attn.c_proj", transposed},
                {"ffn_norm", "ln_2"},
                {"ffn_up", "mlp.c_fc", transposed},
                {"ffn_down", "mlp.c_proj", transposed}});
}

Rules gptneox_names() {
  return Rules{{"token_embd", "gpt_neox.embed_in"},
               {"output_norm", "gpt_neox.final_layer_norm"},
               {"output", "embed_out"},
               {"output", "lm_head"}} +  // as transformers 5 calls it
         layer("blk.{}.", "gpt_neox.layers.{}.",
               {{"attn_norm", "input_layernorm"},
                {"attn_qkv", "attention.query_key_value", grouped_rows},
                {"attn_output", "attention.dense"},
                {"ffn_norm", "post_attention_layernorm"},
                {"ffn_up", "mlp.dense_h_to_4h"},
                {"ffn_down", "mlp.dense_4h_to_h"}});
}

Rules falcon_names() {
  return Rules{{"token_embd", "transformer.word_embeddings"},
               {"output_norm", "transformer.ln_f"},
               {"output", "lm_head"}} +
         layer("blk.{}.", "transformer.h.{}.",
               {{"attn_norm", "ln_mlp", none, "attn_norm_2"},  // two norms side by side: Falcon 40B
                {"attn_norm", "input_layernorm"},
                {"attn_norm_2", "ln_attn"},
                {"attn_qkv", "self_attention.query_key_value", grouped_rows},
                {"attn_output", "self_attention.dense"},
                {"ffn_up", "mlp.dense_h_to_4h"},
                {"ffn_down", "mlp.dense_4h_to_h"}});
}

Rules bloom_names() {
  return Rules{{"token_embd", "transformer.word_embeddings"},
               {"token_embd_norm", "transformer.word_embeddings_layernorm"},
               {"output_norm", "transformer.ln_f"},
               {"output", "lm_head"}} +
         layer("blk.{}.", "transformer.h.{}.",
               {{"attn_norm", "input_layernorm"},
                {"attn_qkv", "self_attention.query_key_value", grouped_rows},
                {"attn_output", "self_attention.dense"},
                {"ffn_norm", "post_attention_layernorm"},
                {"ffn_up", "mlp.dense_h_to_4h"},
                {"ffn_down", "mlp.dense_4h_to_h"}});
}

Rules mpt_names() {
  return Rules{{"token_embd", "transformer.wte"},
               {"position_embd", "transformer.wpe"},
               {"output_norm", "transformer.norm_f"},
               {"output", "lm_head"}} +
         layer("blk.{}.", "transformer.blocks.{}.",
               {{"attn_norm", "norm_1"},
                {"attn_qkv", "attn.Wqkv"},
                {"attn_output", "attn.out_proj"},
                {"ffn_norm", "norm_2"},
                {"ffn_up", "ffn.up_proj"},
                {"ffn_down", "ffn.down_proj"}});
}

Rules phi2_names() {
  return Rules{{"token_embd", "model.embed_tokens"}, {"output_norm", "model.final_layernorm"}, {"output", "lm_head"}} +
         in_layers({{"attn_norm", "input_layernorm"},
                    {"attn_q", "self_attn.q_proj"},
                    {"attn_k", "self_attn.k_proj"},
                    {"attn_v", "self_attn.v_proj"},
                    {"attn_output", "self_attn.dense"},
                    {"ffn_up", "mlp.fc1"},
                    {"ffn_down", "mlp.fc2"}});
}

Rules phi3_names() {
  return ends() + pre_norms() +
         in_layers({{"attn_qkv", "self_attn.qkv_proj"},
                    {"attn_output", "self_attn.o_proj"},
                    {"ffn_up", "mlp.gate_up_proj"},
                    {"ffn_down", "mlp.down_proj"}});
}

/// The heads' norms of StableLM are published one by one.
Rules stablelm_names() {
  return llama_names(false) + in_layers({{"attn_q_norm", "self_attn.q_layernorm.norms.[]"},
                                         {"attn_k_norm", "self_attn.k_layernorm.norms.[]"}});
}

Rules olmo2_names() {
  return ends() + attention(false) + head_norms() + gated() +
         in_layers(
             {{"post_attention_norm", "post_attention_layernorm"}, {"post_ffw_norm", "post_feedforward_layernorm"}});
}

Rules cohere_names() {
  return ends() + attention(false) + head_norms() + gated() + in_layers({{"attn_norm", "input_layernorm"}});
}

Rules bert_names() {
  return Rules{{"token_embd", "bert.embeddings.word_embeddings"},
               {"position_embd", "bert.embeddings.position_embeddings"},
               {"token_types", "bert.embeddings.token_type_embeddings"},
               {"token_embd_norm", "bert.embeddings.LayerNorm"}} +
         layer("blk.{}.", "bert.encoder.layer.{}.",
               {{"attn_q", "attention.self.query"},
                {"attn_k", "attention.self.key"},
                {"attn_v", "attention.self.value"},
                {"attn_output", "attention.output.dense"},
                {"attn_output_norm", "attention.output.LayerNorm"},
                {"ffn_up", "intermediate.dense"},
                {"ffn_down", "output.dense"},
                {"layer_output_norm", "output.LayerNorm"}});
}

Rules nomic_bert_names() {
  return Rules{{"token_embd", "bert.embeddings.word_embeddings"},
               {"token_types", "bert.embeddings.token_type_embeddings"},
               {"token_embd_norm", "bert.emb_ln"}} +
         layer("blk.{}.", "bert.encoder.layers.{}.",
               {{"attn_qkv", "attn.Wqkv"},
                {"attn_output", "attn.out_proj"},
                {"attn_output_norm", "norm1"},
                {"ffn_up", "mlp.fc11"},
                {"ffn_gate", "mlp.fc12"},
                {"ffn_down", "mlp.fc2"},
                {"layer_output_norm", "norm2"}});
}

Rules t5_feedforward(const std::string& at) {
  return {{"ffn_norm", at + "layer_norm"},
          {"ffn_gate", at + "DenseReluDense.wi_0"},
          {"ffn_up", at + "DenseReluDense.wi_1", none, "ffn_gate"},
          {"ffn_up", at + "DenseReluDense.wi"},
          {"ffn_down", at + "DenseReluDense.wo"}};
}

Rules t5_attention(const std::string& file, const std::string& at, const std::string& kind) {
  return {{file + "norm", at + "layer_norm"}, {file + "q", at + kind + ".q"},
          {file + "k", at + kind + ".k"},     {file + "v", at + kind + ".v"},
          {file + "o", at + kind + ".o"},     {file + "rel_b", at + kind + ".relative_attention_bias"}};
}

Rules t5_names() {
  return Rules{{"token_embd", "shared"},
               {"output", "lm_head"},
               {"enc.output_norm", "encoder.final_layer_norm"},
               {"dec.output_norm", "decoder.final_layer_norm"}} +
         layer("enc.blk.{}.", "encoder.block.{}.",
               t5_attention("attn_", "layer.0.", "SelfAttention") + t5_feedforward("layer.1.")) +
         layer("dec.blk.{}.", "decoder.block.{}.",
               t5_attention("attn_", "layer.0.", "SelfAttention") +
                   t5_attention("cross_attn_", "layer.1.", "EncDecAttention") + t5_feedforward("layer.2."));
}

const std::vector<std::string> rotary_buffers = {"rotary_emb.inv_freq"};

std::vector<GgufArchitecture> all_architectures() {
  const Rules llama = llama_names(true), plain = llama_names(false);
  const Rules routed = ends() + attention(false) + pre_norms() + qwen_experts();
  const std::vector<std::string> masks = {".attn.bias", ".attn.masked_bias", ".attention.bias",
                                          ".attention.masked_bias", "rotary_emb.inv_freq"};
  return {{"llama", "llama", "model.", llama, rotary_buffers},
          {"llama", "mistral", "model.", llama, rotary_buffers},
          {"llama", "mixtral", "model.", ends() + attention(true) + pre_norms() + mixtral_experts(), rotary_buffers},
          {"granite", "granite", "model.", llama},
          {"smollm3", "smollm3", "model.", llama},
          {"qwen2", "qwen2", "model.", plain, rotary_buffers},
          {"qwen2moe", "qwen2_moe", "model.", routed + shared_expert()},
          {"qwen3", "qwen3", "model.", plain + head_norms()},
          {"qwen3moe", "qwen3_moe", "model.", routed + head_norms()},
          {"gemma", "gemma", "model.", ends(one_more) + attention(false) + pre_norms(one_more) + gated()},
          {"gemma2", "gemma2", "model.", ends(one_more) + attention(false) + four_norms() + gated()},
          {"gemma3", "gemma3_text", "model.",
           ends(one_more) + attention(false) + four_norms() + head_norms(one_more) + gated()},
          {"phi2", "phi", "model.", phi2_names(), rotary_buffers},
          {"phi3", "phi3", "model.", phi3_names(), rotary_buffers},
          {"stablelm", "stablelm", "model.", stablelm_names(), rotary_buffers},
          {"olmo2", "olmo2", "model.", olmo2_names()},
          {"command-r", "cohere", "model.", cohere_names(), rotary_buffers},
          {"cohere2", "cohere2", "model.", cohere_names(), rotary_buffers},
          {"starcoder2", "starcoder2", "model.",
           ends() + attention(false) + pre_norms() + in_layers({{"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}}),
           rotary_buffers},
          {"gpt2", "gpt2", "transformer.", gpt2_names(), masks},
          {"gptneox", "gpt_neox", "gpt_neox.", gptneox_names(), masks},
          {"falcon", "falcon", "transformer.", falcon_names(), rotary_buffers},
          {"bloom", "bloom", "transformer.", bloom_names()},
          {"mpt", "mpt", "transformer.", mpt_names()},
          {"bert", "bert", "bert.", bert_names(), {"position_ids"}, {"bert.pooler.", "pooler.", "cls."}},
          {"nomic-bert", "nomic_bert", "bert.", nomic_bert_names(), {}, {"bert.pooler.", "pooler.", "cls."}},
          {"t5", "t5", "", t5_names(), {}, {"encoder.embed_tokens.", "decoder.embed_tokens."}}};
}

std::string known_names(std::string GgufArchitecture::*which) {
  std::vector<std::string> names;
  for (const GgufArchitecture& one : gguf_architectures())
    if (std::ranges::find(names, one.*which) == names.end()) names.push_back(one.*which);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view take_part(std::string_view& text) {
  const std::size_t dot = text.find('.');
  const std::string_view part = text.substr(0, dot);
  text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  return part;
}

std::optional<std::int64_t> index_of(std::string_view part) {
  if (part.empty() || part.size() > 9 || !std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  std::int64_t value = 0;
  for (char digit : part) value = 10 * value + (digit - '0');
  if (part.size() > 1 && part[0] == '0') return std::nullopt;
  return value;
}

}  // namespace

const std::vector<GgufArchitecture>& gguf_architectures() {
  static const std::vector<GgufArchitecture> all = all_architectures();
  return all;
}

const GgufArchitecture& gguf_architecture(const std::string& name, bool experts) {
  const GgufArchitecture* found = nullptr;
  for (const GgufArchitecture& one : gguf_architectures())
    if (one.name == name && (!found || (experts && one.model_type == "mixtral"))) found = &one;
  check(found != nullptr, "\"general.architecture\" is \"{}\": this program reads {}", name,
        known_names(&GgufArchitecture::name));
  return *found;
}

const GgufArchitecture& gguf_architecture_for(const std::string& model_type) {
  for (const GgufArchitecture& one : gguf_architectures())
    if (one.model_type == model_type) return one;
  fail("a model of type \"{}\" has no form in GGUF that this program knows: it writes {}", model_type,
       known_names(&GgufArchitecture::model_type));
}

std::optional<GgufNameMatch> match_name(std::string_view pattern, std::string_view name) {
  GgufNameMatch match;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  match.ending = name.substr(dot);
  if (match.ending != ".weight" && match.ending != ".bias") return std::nullopt;
  name = name.substr(0, dot);
  while (!pattern.empty() && !name.empty()) {
    const std::string_view expected = take_part(pattern), part = take_part(name);
    if (expected == "{}" || expected == "[]") {
      const std::optional<std::int64_t> index = index_of(part);
      if (!index) return std::nullopt;
      (expected == "{}" ? match.layer : match.index) = index;
    } else if (expected != part) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !name.empty()) return std::nullopt;
  return match;
}

std::string name_with(std::string_view pattern, const GgufNameMatch& match) {
  std::string name;
  while (!pattern.empty()) {
    const std::string_view part = take_part(pattern);
    name += name.empty() ? "" : ".";
    if (part == "{}" || part == "[]")
      name += std::to_string((part == "{}" ? match.layer : match.index).value_or(0));
    else
      name += part;
  }
  return name + match.ending;
}

}  // namespace attune
