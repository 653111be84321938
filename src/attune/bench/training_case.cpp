#include "attune/bench/training_case.h"

#include <set>
#include "attune/base/json_values.h"

#include "attune/models/architecture.h"
#include "attune/tasks/text_encoder.h"
#include "attune/text/tokenizer_trainer.h"
#include "attune/workflows/clinical_example/clinical_example.h"
#include "attune/workflows/clinical_model.h"

namespace attune::bench {

namespace {

/// Six for each weight of a matrix that a token meets (2 forward, 4 backward), twelve for each key that it attends to
/// and each value of the hidden state.
double operations(double matrix_weights, double layers, double hidden, double keys) {
  return 6 * matrix_weights + 12 * layers * hidden * keys;
}

/// Number of keys that a token attends to, on average.
double mean_keys(const std::vector<Example>& examples) {
  double tokens = 0, pairs = 0;
  for (const Example& example : examples)
    for (const auto& chunk : example.chunks) {
      auto length = static_cast<double>(chunk.size());
      tokens += length;
      pairs += length * length;
    }
  return pairs / tokens;
}

Tokenizer trained_tokenizer(const std::vector<Document>& documents, std::int64_t vocab_size) {
  TokenizerTraining training{.kind = TokenizerKind::word_piece, .vocab_size = vocab_size};
  std::size_t next = 0;
  return train_tokenizer(training, [&](std::string& text) {
    if (next == documents.size()) return false;
    text = documents[next++].text;
    return true;
  });
}

}  // namespace

TrainingCase classifier_case() {
  const workflows::ClinicalModel model;
  std::vector<Document> documents = clinical_documents();
  std::erase_if(documents, [](const Document& d) { return !d.label; });
  std::set<std::string> labels;
  std::vector<std::string_view> texts;
  for (const Document& d : documents) labels.insert(*d.label), texts.push_back(d.text);
  const std::vector<std::string> classes(labels.begin(), labels.end());
  TextEncoder encoder(trained_tokenizer(documents, model.vocab_size), {LongPolicy::Kind::chunk, 0},
                      model.max_position_embeddings);

  TrainingCase one{.name = "classifier", .config = {}, .examples = {}, .options = {}};
  std::vector<EncodedText> encoded = encoder.encode_all(texts);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    auto found = std::find(classes.begin(), classes.end(), *documents[i].label);
    one.examples.push_back({.chunks = std::move(encoded[i].chunks), .labels = {found - classes.begin()}});
  }
  Json config = {{"model_type", "bert"},
                 {"architectures", {"BertForSequenceClassification"}},
                 {"vocab_size", model.vocab_size},
                 {"hidden_size", model.hidden_size},
                 {"num_hidden_layers", model.num_hidden_layers},
                 {"num_attention_heads", model.num_attention_heads},
                 {"intermediate_size", model.intermediate_size},
                 {"max_position_embeddings", model.max_position_embeddings},
                 {"classifier_pooling", model.classifier_pooling}};
  for (std::size_t i = 0; i < classes.size(); ++i) config["id2label"][std::to_string(i)] = classes[i];
  set_dropout(config, model.dropout);
  one.config = config;
  one.options.epochs = 1;
  one.options.batches.batch_tokens = model.batch_tokens;
  one.options.learning_rate = model.learning_rate;
  one.options.label_smoothing = model.label_smoothing;
  one.options.adamw.weight_decay = model.weight_decay;
  const auto hidden = static_cast<double>(model.hidden_size), layers = static_cast<double>(model.num_hidden_layers);
  one.operations_per_token =
      operations(layers * hidden * (4 * hidden + 2 * static_cast<double>(model.intermediate_size)), layers, hidden,
                 mean_keys(one.examples));
  return one;
}

TrainingCase language_model_case() {
  constexpr std::int64_t layers = 6, hidden = 384, heads = 6, vocabulary = 8192, sequences = 16, length = 256;
  constexpr std::int64_t steps = 4;
  TrainingCase one{.name = "gpt2", .config = {}, .examples = {}, .options = {}};
  Json config = {{"model_type", "gpt2"},  {"architectures", {"GPT2LMHeadModel"}},
                 {"n_layer", layers},     {"n_embd", hidden},
                 {"n_head", heads},       {"vocab_size", vocabulary},
                 {"n_positions", length}, {"eos_token_id", 0},
                 {"bos_token_id", 0}};
  set_dropout(config, 0.1);
  one.config = config;
  RandomStream random(RandomKey{.seed = 1}.at("gpt2"));
  for (std::int64_t i = 0; i < steps * sequences; ++i) {
    std::vector<std::int64_t> ids;
    for (std::int64_t t = 0; t < length; ++t) ids.push_back(random.below(vocabulary));
    one.examples.push_back({.chunks = {ids}, .labels = ids});
  }
  one.options.max_steps = steps;
  one.options.batches.batch_size = sequences;
  one.options.adamw.weight_decay = 0.01;
  one.operations_per_token = operations(static_cast<double>(layers * 12 * hidden * hidden + vocabulary * hidden),
                                        layers, hidden, length / 2.0);
  return one;
}

void write_case(const TrainingCase& one, const Path& path) {
  AtomicFile file(path);
  const Json head = {{"case", one.name},
                     {"config", *one.config},
                     {"batch_tokens", one.options.batches.batch_tokens},
                     {"batch_size", one.options.batches.batch_size},
                     {"learning_rate", one.options.learning_rate},
                     {"label_smoothing", one.options.label_smoothing},
                     {"weight_decay", one.options.adamw.weight_decay}};
  file.write(head.dump() + "\n");
  for (const Example& example : one.examples)
    file.write(Json{{"chunks", example.chunks}, {"labels", example.labels}}.dump() + "\n");
  file.commit();
}

}  // namespace attune::bench
