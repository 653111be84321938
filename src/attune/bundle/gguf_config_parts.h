#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/checkpoint/gguf.h"

namespace attune {

/// A GGUF file's metadata and tensors while config.json's object is made of them.
class GgufConfigSource {
 public:
  GgufConfigSource(const GgufFile& file, std::string architecture);

  const GgufMetadata& metadata() const { return file_->metadata(); }
  std::string key(const std::string& name) const { return architecture_ + "." + name; }
  std::optional<std::int64_t> integer(const std::string& name) const { return metadata().integer(key(name)); }
  std::optional<double> number(const std::string& name) const { return metadata().decimal(key(name)); }
  std::optional<bool> flag(const std::string& name) const { return metadata().boolean(key(name)); }
  std::optional<std::string> text(const std::string& name) const { return metadata().text(key(name)); }
  /// Throws Error that names the key where it is absent.
  std::int64_t required(const std::string& name) const;
  bool has_tensor(const std::string& name) const { return file_->find(name) != nullptr; }
  const GgufTensorInfo* tensor(const std::string& name) const { return file_->find(name); }
  /// Of a vector: rope_freqs and the like. Empty where there is none.
  std::vector<double> vector(const std::string& name) const;
  std::int64_t head_dim() const;

 private:
  const GgufFile* file_;
  std::string architecture_;
};

/// What a config becomes in a GGUF file: metadata, and the vectors that belong to it.
struct GgufConfigTarget {
  std::string architecture;
  GgufMetadata metadata = {};
  std::vector<GgufTensor> tensors = {};

  std::string key(const std::string& name) const { return architecture + "." + name; }
  void integer(const std::string& name, std::int64_t value);
  void number(const std::string& name, double value);
  void flag(const std::string& name, bool value) { metadata.set(key(name), GgufValue::boolean(value)); }
  void text(const std::string& name, std::string value) { metadata.set(key(name), GgufValue::text(std::move(value))); }
  void vector(const std::string& name, const std::vector<double>& values);
};

/// One or some keys of a published config and how they stand in a GGUF file.
struct GgufConfigPart {
  std::vector<std::string> published;  // the keys that it makes and takes
  std::function<void(const GgufConfigSource&, Json&)> read;
  std::function<void(const Json&, GgufConfigTarget&)> write;
};

/// A whole number; a key that is absent or null on one side stays so on the other, unless it is required.
enum class GgufKeyNeed { required, optional };
GgufConfigPart integer_key(const std::string& published, const std::string& file,
                           GgufKeyNeed need = GgufKeyNeed::required);
/// A whole number that configs have under either name, and a directory made of a file under the first.
GgufConfigPart either_key(const std::string& published, const std::string& other, const std::string& file);
/// A whole number of the published config; an Error that names the key where it is absent or no whole number.
std::int64_t required_integer(const Json& config, const std::string& key);
GgufConfigPart number_key(const std::string& published, const std::string& file,
                          GgufKeyNeed need = GgufKeyNeed::required);
GgufConfigPart flag_key(const std::string& published, const std::string& file);
/// True where the file has the tensor; it goes with the weights when a file is written.
GgufConfigPart tensor_key(const std::string& published, const std::string& tensor);
/// What all files of the architecture have and no key says; a config that says otherwise is refused.
GgufConfigPart fixed_key(const std::string& published, const Json& value);

/// Rotary positions: theta and scaling. `longrope` for Phi-3, which has its factors as tensors.
GgufConfigPart rope_part();
/// Theta of layers with a window: "rope_local_base_freq", or in rope_part()'s object, where each kind of layer has one.
GgufConfigPart window_rope_part();
/// "partial_rotary_factor" or another name, from how many values of a head turn.
GgufConfigPart rotary_share_part(const std::string& published);
/// "sliding_window" with "layer_types": all but every n-th layer have the window.
GgufConfigPart window_pattern_part(std::int64_t every);
/// "tie_word_embeddings": no tensor "output.weight".
GgufConfigPart tied_part();

}  // namespace attune
