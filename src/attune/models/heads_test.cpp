// Heads over tokens and answers, and files opened for another head than the one that they were trained with.
#include "attune/models/heads.h"

#include <gtest/gtest.h>

#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/data/example_file.h"
#include "attune/models/architecture.h"
#include "attune/models/objective.h"

namespace attune {
namespace {

Path golden(const std::string& name) { return Path(ATTUNE_GOLDEN_DIR) / "models" / name; }

std::unique_ptr<Model> open(const std::string& name, std::optional<HeadKind> head = {},
                            const std::function<void(Json&)>& edit = {}) {
  Json config = read_json(golden(name) / "config.json");
  if (edit) edit(config);
  WeightSource source{
      .checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(golden(name) / "model.safetensors")),
      .initial = RandomKey{.seed = 3},
      .trainable = true};
  return build_model(config, name, std::move(source), head);
}

double loss_of_lines(const Model& model, const std::vector<Example>& lines) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < lines.size(); ++i) numbers.push_back(static_cast<std::int64_t>(i));
  return loss_of(model, collate(model, lines, numbers)).item();
}

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AnswerHead, ALineWithoutLabelsCountsNothing) {
  const auto model = open("bert_answering");
  std::vector<Example> lines = read_examples(golden("bert_answering") / "input.jsonl");
  lines.resize(2);
  const double alone = loss_of_lines(*model, {lines[0]});
  lines[1].labels.clear();
  EXPECT_FLOAT_EQ(static_cast<float>(loss_of_lines(*model, lines)), static_cast<float>(alone));
}

TEST(AnswerHead, AnAnswerBeyondTheLineIsAnErrorWithBothNumbers) {
  const auto model = open("bert_answering");
  Example line = Example::of({5, 6, 7});
  line.labels = {1, 3};
  const std::string message = message_of([&] { loss_of_lines(*model, {line}); });
  EXPECT_NE(message.find("token 3"), std::string::npos) << message;
  EXPECT_NE(message.find("3 tokens"), std::string::npos) << message;
  line.labels = {1};
  EXPECT_THROW(loss_of_lines(*model, {line}), Error);
}

TEST(AnswerHead, WithoutTypesTheyFollowTheFirstSeparator) {
  const auto model = open("big_bird_answering");
  const std::vector<std::vector<std::int64_t>> lines = {{9, 3, 7, 3, 8}, {3}, {5, 6}, {4, 7, 9, 3}};
  const Batch without = Batch::of(lines);
  Batch with = without;
  with.type_ids = Tensor::from<std::int64_t>({12}, {0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_EQ(model->forward(without).to_vector<float>(), model->forward(with).to_vector<float>());
}

TEST(Heads, AFileOpensForAnyOtherHeadWhichBeginsAfresh) {
  for (const char* name :
       {"bert_masked_lm", "roberta_masked_lm", "distilbert_classification", "electra_masked_lm", "albert_masked_lm",
        "mpnet_masked_lm", "modernbert_masked_lm", "deberta_v3_masked_lm", "roformer_masked_lm", "longformer_masked_lm",
        "big_bird_masked_lm", "nystromformer_masked_lm", "gpt2_tied", "llama_tied_biased"}) {
    for (HeadKind head : {HeadKind::classify, HeadKind::tag, HeadKind::answer}) {
      const auto model = open(name, head);
      EXPECT_EQ(model->facts().head, head) << name;
      const bool own = std::string(name) == "distilbert_classification" && head == HeadKind::classify;
      EXPECT_EQ(model->parameters().fresh().empty(), own)
          << name << ": " << class_name(model->facts().model_type, head);
    }
    EXPECT_TRUE(open(name, HeadKind::none)->parameters().fresh().empty()) << name;
  }
}

TEST(Heads, AHeadThatAnArchitectureLacksIsAnError) {
  EXPECT_NE(message_of([] { open("esm_masked_lm", HeadKind::answer); }).find("no such head"), std::string::npos);
}

TEST(Encoders, WhatTheyDoNotHonourIsNamed) {
  const std::pair<const char*, const char*> refused[] = {
      {"bert_masked_lm", R"({"position_embedding_type": "relative_key"})"},
      {"bert_masked_lm", R"({"is_decoder": true})"},
      {"roberta_masked_lm", R"({"add_cross_attention": true})"},
      {"mpnet_masked_lm", R"({"relative_attention_num_buckets": 16})"},
      {"deberta_v3_masked_lm", R"({"pos_att_type": "c2p|p2p"})"},
      {"deberta_v3_masked_lm", R"({"attention_head_size": 4})"},
      {"deberta_v2_masked_lm", R"({"conv_kernel_size": 4})"},
      {"modernbert_masked_lm", R"({"layer_types": ["full_attention"]})"},
      {"esm_masked_lm", R"({"hidden_act": "relu"})"},
      {"esm_masked_lm", R"({"is_folding_model": true})"},
      {"longformer_masked_lm", R"({"attention_window": [4, 5]})"},
      {"nystromformer_masked_lm", R"({"inv_coeff_init_option": true})"},
      {"nomic_bert_as_published", R"({"rotary_scaling_factor": 2.0})"},
      {"nomic_bert_as_published", R"({"prenorm": true})"},
      {"big_bird_masked_lm", R"({"unheard_of": 1})"}};
  for (const auto& each : refused) {
    const std::string name = each.first, values = each.second;
    const Json changed = Json::parse(values);
    const std::string message = message_of([&] { open(name, {}, [&](Json& config) { config.update(changed); }); });
    EXPECT_NE(message.find(changed.begin().key()), std::string::npos) << name << " " << values << ": " << message;
  }
}

// The keys of published configs, with small sizes.
TEST(Encoders, PublishedConfigsAreReadWhole) {
  const std::string bert = R"("attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
    "hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12, "max_position_embeddings": 14,
    "num_attention_heads": 2, "num_hidden_layers": 2, "vocab_size": 20, "layer_norm_eps": 1e-05,
    "transformers_version": "4.40.0", "gradient_checkpointing": false, "torch_dtype": "float32", )";
  const std::string configs[] = {
      bert + R"("model_type": "bert", "architectures": ["BertForPreTraining"], "classifier_dropout": null,
        "directionality": "bidi", "pad_token_id": 0, "pooler_fc_size": 768, "pooler_num_attention_heads": 12,
        "pooler_num_fc_layers": 3, "pooler_size_per_head": 128, "pooler_type": "first_token_transform",
        "position_embedding_type": "absolute", "type_vocab_size": 2, "use_cache": true, "finetuning_task": "sst-2")",
      bert + R"("model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "bos_token_id": 0, "eos_token_id": 2,
        "pad_token_id": 1, "type_vocab_size": 1, "output_past": true, "classifier_dropout": null, "use_cache": true)",
      bert + R"("model_type": "xlm-roberta", "architectures": ["XLMRobertaForTokenClassification"], "pad_token_id": 1,
        "id2label": {"0": "O", "1": "B", "2": "I"}, "label2id": {"O": 0, "B": 1, "I": 2}, "type_vocab_size": 1,
        "position_embedding_type": "absolute", "_num_labels": 3)",
      R"("model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"], "activation": "gelu",
        "attention_dropout": 0.1, "dim": 8, "dropout": 0.1, "hidden_dim": 12, "initializer_range": 0.02,
        "max_position_embeddings": 14, "n_heads": 2, "n_layers": 2, "output_past": true, "pad_token_id": 0,
        "qa_dropout": 0.1, "seq_classif_dropout": 0.2, "sinusoidal_pos_embds": false, "tie_weights_": true,
        "vocab_size": 20)",
      bert + R"("model_type": "electra", "architectures": ["ElectraForPreTraining"], "embedding_size": 6,
        "summary_activation": "gelu", "summary_last_dropout": 0.1, "summary_type": "first", "summary_use_proj": true,
        "type_vocab_size": 2, "pad_token_id": 0)",
      bert + R"("model_type": "albert", "architectures": ["AlbertForMaskedLM"], "bos_token_id": 2,
        "classifier_dropout_prob": 0.1, "down_scale_factor": 1, "embedding_size": 6, "eos_token_id": 3, "gap_size": 0,
        "inner_group_num": 1, "layers_to_keep": [], "net_structure_type": 0, "num_hidden_groups": 1,
        "num_memory_blocks": 0, "pad_token_id": 0, "type_vocab_size": 2)",
      bert + R"("model_type": "mpnet", "architectures": ["MPNetForMaskedLM"], "bos_token_id": 0, "eos_token_id": 2,
        "pad_token_id": 1, "relative_attention_num_buckets": 32)",
      bert + R"("model_type": "deberta-v2", "relative_attention": true, "position_buckets": 8,
        "norm_rel_ebd": "layer_norm", "share_att_key": true, "pos_att_type": "p2c|c2p", "max_relative_positions": -1,
        "position_biased_input": false, "type_vocab_size": 0)",
      R"("model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"], "attention_bias": false,
        "attention_dropout": 0.0, "bos_token_id": 1, "classifier_activation": "gelu", "classifier_bias": false,
        "classifier_dropout": 0.0, "classifier_pooling": "mean", "cls_token_id": 1, "decoder_bias": true,
        "deterministic_flash_attn": false, "embedding_dropout": 0.0, "eos_token_id": 2, "global_attn_every_n_layers": 3,
        "global_rope_theta": 160000.0, "gradient_checkpointing": false, "hidden_activation": "gelu", "hidden_size": 8,
        "initializer_cutoff_factor": 2.0, "initializer_range": 0.02, "intermediate_size": 12, "layer_norm_eps": 1e-05,
        "local_attention": 128, "local_rope_theta": 10000.0, "max_position_embeddings": 8192, "mlp_bias": false,
        "mlp_dropout": 0.0, "norm_bias": false, "norm_eps": 1e-05, "num_attention_heads": 2, "num_hidden_layers": 4,
        "pad_token_id": 3, "position_embedding_type": "absolute", "repad_logits_with_grad": false, "sep_token_id": 2,
        "sparse_pred_ignore_index": -100, "sparse_prediction": false, "vocab_size": 20)",
      bert + R"("model_type": "esm", "architectures": ["EsmForMaskedLM"], "classifier_dropout": null,
        "emb_layer_norm_before": false, "esmfold_config": null, "is_folding_model": false, "mask_token_id": 19,
        "pad_token_id": 1, "position_embedding_type": "rotary", "token_dropout": true, "use_cache": true,
        "vocab_list": null)",
      bert + R"("model_type": "roformer", "architectures": ["RoFormerForMaskedLM"], "embedding_size": 8,
        "pad_token_id": 0, "rotary_value": false, "type_vocab_size": 2)",
      bert + R"("model_type": "longformer", "architectures": ["LongformerForMaskedLM"], "attention_mode": "longformer",
        "attention_window": [4, 4], "bos_token_id": 0, "eos_token_id": 2, "ignore_attention_mask": false,
        "pad_token_id": 1, "sep_token_id": 2, "type_vocab_size": 1)",
      bert + R"("model_type": "big_bird", "architectures": ["BigBirdForPreTraining"], "attention_type": "block_sparse",
        "block_size": 64, "bos_token_id": 1, "eos_token_id": 2, "num_random_blocks": 3, "pad_token_id": 0,
        "rescale_embeddings": false, "sep_token_id": 66, "type_vocab_size": 2, "use_bias": true,
        "position_embedding_type": "absolute")",
      bert + R"("model_type": "nystromformer", "architectures": ["NystromformerForMaskedLM"], "bos_token_id": 0,
        "conv_kernel_size": 65, "eos_token_id": 2, "inv_coeff_init_option": false, "num_landmarks": 64,
        "pad_token_id": 1, "segment_means_seq_len": 4096, "type_vocab_size": 2)",
      R"("model_type": "nomic_bert", "architectures": ["NomicBertModel"], "activation_function": "swiglu",
        "attn_pdrop": 0.0, "auto_map": {"AutoModel": "x"}, "bos_token_id": null, "causal": false,
        "dense_seq_output": true, "embd_pdrop": 0.0, "eos_token_id": null, "fused_bias_fc": true,
        "fused_dropout_add_ln": true, "initializer_range": 0.02, "layer_norm_epsilon": 1e-12,
        "max_trained_positions": 2048, "mlp_fc1_bias": false, "mlp_fc2_bias": false, "n_embd": 8, "n_head": 2,
        "n_inner": 12, "n_layer": 2, "n_positions": 8192, "pad_vocab_size_multiple": 64, "parallel_block": false,
        "parallel_block_tied_norm": false, "prenorm": false, "qkv_proj_bias": false, "reorder_and_upcast_attn": false,
        "resid_pdrop": 0.0, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": false,
        "rotary_emb_scale_base": null, "rotary_scaling_factor": null, "scale_attn_by_inverse_layer_idx": false,
        "scale_attn_weights": true, "summary_activation": null, "summary_first_dropout": 0.0,
        "summary_proj_to_labels": true, "summary_type": "cls_index", "summary_use_proj": true, "torch_dtype": "float32",
        "type_vocab_size": 2, "use_cache": true, "use_flash_attn": true, "use_rms_norm": false, "use_xentropy": true,
        "vocab_size": 20)"};
  for (const std::string& config : configs) {
    WeightSource source{.checkpoint = nullptr, .initial = RandomKey{.seed = 3}, .trainable = false};
    std::unique_ptr<Model> model;
    EXPECT_EQ(message_of([&] { model = build_model(Json::parse("{" + config + "}"), "config", std::move(source)); }),
              "");
    if (!model) continue;
    Example line = Example::of({4, 5, 6, 7});
    const Tensor states = model->forward(Batch::of(line.chunks));
    for (float value : states.to_vector<float>()) ASSERT_TRUE(std::isfinite(value)) << config;
  }
}

TEST(Longformer, AQuestionNeedsItsThreeSeparators) {
  const auto model = open("longformer_answering");
  const std::string message = message_of([&] { loss_of_lines(*model, {Example::of({0, 7, 3, 8, 9, 3})}); });
  EXPECT_NE(message.find("expected 3"), std::string::npos) << message;
}

}  // namespace
}  // namespace attune
