#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/nn/memory/key_memory.h"

namespace attune {

/// A text and what it is called.
struct NamedText {
  std::string_view name, text;
};

/// How well a language model foresees a text: mean -log p of its tokens but the first.
struct MemoryScore {
  std::string left_out = {};  // why it was not scored; then there is no loss
  std::int64_t tokens = 0;
  double loss = 0, loss_without = 0;  // with the memory, and without
};

/// What a language model with a kNN layer has read, as a file: texts are added, replaced and removed, and from then on
/// the model looks up in what is there, without training (Wu et al. 2022, "Memorizing transformers", section 4.4). A
/// memory belongs to the weights that it was made by.
class TextMemory {
 public:
  /// A new one for this model. Throws Error where it has no kNN layer.
  explicit TextMemory(const Bundle& bundle, const KeyMemoryOptions& options = {});
  /// Reads a file to be looked into and taken from; it can be given to a model by the constructor below alone.
  static KeyMemory open(const Path& path) { return KeyMemory::open(path); }
  /// Throws Error where the memory was made by other weights.
  TextMemory(const Bundle& bundle, KeyMemory memory);

  /// Reads texts and keeps their keys and values. One whose name is there takes its place. Throws Error, having changed
  /// nothing, where one is empty or longer than the model takes, or two have one name.
  void add(std::span<const NamedText> texts, const Run& run);
  /// With the memory and without, the same bits whatever other texts are asked for. A text of fewer than two tokens, or
  /// of more than the model takes, is left out. Throws Error where none is left.
  std::vector<MemoryScore> score(std::span<const NamedText> texts, const Run& run) const;

  const KeyMemory& keys() const { return memory_; }
  void save(const Path& path) { memory_.save(path); }

 private:
  const Bundle& bundle_;
  KeyMemory memory_;
};

/// Names and sizes in tokens of what a memory holds, in the order of its documents.
struct RememberedText {
  std::int64_t document = 0;
  std::string name;
  std::int64_t tokens = 0;
};
std::vector<RememberedText> remembered_texts(const KeyMemory& memory);

/// Removes a text by its name. Throws Error, with the nearest name, where there is none.
void forget_text(KeyMemory& memory, const std::string& name);

}  // namespace attune
