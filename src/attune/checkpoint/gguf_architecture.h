#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// What was done to a published tensor on its way into a GGUF file (checkpoint/gguf_change.h undoes it).
enum class GgufChange {
  none,
  query_rows,    // of each head, the two halves that rotate together stand row by row; so for a bias
  key_rows,      // the same with the number of key heads
  grouped_rows,  // published: for each key head its queries, its key, its value; in the file: all queries, keys, values
  one_more,      // 1 was added: the file's norm multiplies by the weight itself
  transposed,    // published [in, out], in the file [out, in]
  one_row,       // published [1, n], in the file [n]
};

/// One kind of tensor by its two names, without the ending ".weight" or ".bias", which both have. "{}" stands for the
/// layer; "[]" in the published name for the place in the first dimension of the file's tensor, which holds many
/// published ones (the experts of a layer).
struct GgufNameRule {
  std::string file, published;
  GgufChange change = GgufChange::none;
  std::string beside = {};  // the rule holds in files that have this tensor, too; "" for all files
};

/// The tensors of one architecture: the names in a GGUF file and those of the model as published on Hugging Face.
struct GgufArchitecture {
  std::string name;        // "general.architecture"
  std::string model_type;  // config.json's
  std::string prefix;      // of published names, which some published files leave out: "model."
  std::vector<GgufNameRule> names;
  /// Endings of published names that hold no weight of the model, and beginnings of those that GGUF has no place for.
  std::vector<std::string> unused = {}, left_out = {};
};

const std::vector<GgufArchitecture>& gguf_architectures();

/// The architecture of a file: `experts` tells Mixtral's from Llama's. Throws Error, listing what there is.
const GgufArchitecture& gguf_architecture(const std::string& name, bool experts);
/// The one that a published model of this type is written as. Throws Error, listing what there is.
const GgufArchitecture& gguf_architecture_for(const std::string& model_type);

/// A name split as a rule has it.
struct GgufNameMatch {
  std::optional<std::int64_t> layer, index;
  std::string ending;  // ".weight"
};
/// None where the name is not one of the pattern's ("blk.{}.attn_q", or "model.layers.{}.mlp.experts.[].up_proj").
std::optional<GgufNameMatch> match_name(std::string_view pattern, std::string_view name);
/// The name that a pattern has with these numbers and this ending.
std::string name_with(std::string_view pattern, const GgufNameMatch& match);

}  // namespace attune
