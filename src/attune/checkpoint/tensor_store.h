#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/checkpoint/safetensors.h"
#include "attune/tensor/quantised.h"

namespace attune {

/// A matrix that a file keeps as whole numbers, and what they are to be multiplied by.
struct Int8Codes {
  Tensor codes;   // I8 [out, in]
  Tensor scales;  // [out, 1]
};

/// Tensors by their published names, in files of one format: what Checkpoint stands on. A name that is not there is an
/// Error with the nearest.
class TensorStore {
 public:
  virtual ~TensorStore() = default;

  virtual std::vector<std::string> names() const = 0;               // sorted
  virtual const TensorInfo* find(std::string_view name) const = 0;  // null where there is none
  virtual Tensor tensor(std::string_view name) const = 0;
  virtual std::optional<QuantisedTensor> quantised(std::string_view name) const = 0;
  virtual std::optional<Int8Codes> int8(std::string_view) const { return std::nullopt; }
  virtual void drop_pages(std::string_view name) const = 0;
  virtual std::vector<Path> files() const = 0;
};

}  // namespace attune
