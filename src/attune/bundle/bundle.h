#pragma once

#include <memory>
#include <optional>

#include "attune/bundle/companions.h"
#include "attune/bundle/contract.h"
#include "attune/models/architecture.h"
#include "attune/text/tokenizer.h"

namespace attune {

/// A model directory in the published layout, or a GGUF file, loaded: config, weights, tokenizer and contract as one
/// thing.
struct Bundle {
  Path path;
  JsonValue config;    // config.json's object; of a GGUF file, what its metadata say, under the published names
  JsonValue defaults;  // what the architecture takes for the keys that config.json's object does not have
  std::unique_ptr<Model> model;
  std::optional<Tokenizer> tokenizer;  // none where the directory holds none
  ChatTexts chat;                      // its chat templates; for ChatTemplate::of()
  Companions companions;               // other files of its directory, which save_bundle() writes again
  Contract contract;                   // of a model without attune.json: a classifier's labels, long inputs refused
  std::optional<evaluate::NoveltyModel> novelty;

  /// Throws Error that names the directory and the files that would do.
  const Tokenizer& text() const;
};

struct LoadOptions {
  bool trainable = false;
  std::optional<HeadKind> head = {};  // else the one that config.json names
  std::uint64_t seed = 0;             // of a head that begins afresh
  DType type = DType::F32;
  LinearFormat linears = LinearFormat::as_stored;  // int8: smaller and faster; parameters().rounded() says what is lost
  std::optional<double> dropout = {};              // replaces every rate in config.json
  std::vector<std::string> labels = {};  // of a classifier that begins afresh; one that has its head keeps its own
};

/// Loads a model directory or a .gguf file. Throws one Error for whatever is missing, unknown or does not fit in any of
/// its files; never loads half.
Bundle load_bundle(const Path& model, const LoadOptions& options = {});

bool is_gguf(const Path& model);
/// The tokenizer alone, of a model directory, a .gguf file or a tokenizer.json. Throws Error where there is none.
Tokenizer open_tokenizer(const Path& model);
/// Where a model's contract is: attune.json in its directory, NAME.attune.json beside NAME.gguf; and the arrays of its
/// novelty score, attune.safetensors and NAME.attune.safetensors.
Path contract_file(const Path& model);
Path novelty_file(const Path& model);

/// Fills `directory` (a new one, for instance from write_directory_atomically) with config.json, model.safetensors,
/// attune.safetensors where there is a novelty model, tokenizer.json, attune.json and the model's companions (of
/// generation_config.json only where the model writes text). Hugging Face transformers can read it.
void save_bundle(const Bundle& bundle, const Path& directory);

/// Only the contract of a model changed (calibration): rewrites attune.json and attune.safetensors.
void save_contract(const Bundle& bundle);

/// Names of a classifier's classes: the config's id2label in order of number; without it LABEL_0, ... as many as
/// num_labels (2 where that is not given either), as transformers has it.
std::vector<std::string> labels_of(const Json& config, const std::string& source);

}  // namespace attune
