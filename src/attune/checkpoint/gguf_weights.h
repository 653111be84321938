#pragma once

#include <map>
#include <memory>
#include <string>

#include "attune/checkpoint/gguf.h"
#include "attune/checkpoint/gguf_change.h"
#include "attune/checkpoint/tensor_store.h"

namespace attune {

/// The heads of a file's model, from its metadata.
GgufHeads heads_of(const GgufMetadata& metadata);
/// "llama": the architecture's name, which most keys begin with. Throws Error where the metadata lack it.
std::string architecture_of(const GgufMetadata& metadata);

/// A GGUF file's tensors under the names, and with the values, of the model as published. A tensor that the
/// architecture does not have keeps the file's name; those that hold a part of the config (rope_freqs, rope_factors_*)
/// are left out.
class GgufWeights : public TensorStore {
 public:
  /// Throws Error for an architecture that Attune does not know, a file that is one of several parts, and two tensors
  /// of one name.
  explicit GgufWeights(std::shared_ptr<const GgufFile> file);

  const GgufArchitecture& architecture() const { return *architecture_; }
  const GgufFile& file() const { return *file_; }

  std::vector<std::string> names() const override;
  const TensorInfo* find(std::string_view name) const override;
  /// f32 for blocks, which are computed anew each time.
  Tensor tensor(std::string_view name) const override;
  std::optional<QuantisedTensor> quantised(std::string_view name) const override;
  void drop_pages(std::string_view name) const override;
  std::vector<Path> files() const override { return {file_->path()}; }

 private:
  struct Place {
    std::string name;  // in the file
    GgufChange change = GgufChange::none;
    std::optional<std::int64_t> index = {};  // in the first dimension of the file's tensor
    TensorInfo info = {};                    // as published
  };
  void add(const std::string& published, const Place& place, const GgufTensorInfo& info);
  void add_all(const GgufTensorInfo& info);
  const Place& at(std::string_view name) const;

  std::shared_ptr<const GgufFile> file_;
  const GgufArchitecture* architecture_ = nullptr;
  GgufHeads heads_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace attune
