#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "attune/tensor/dtype.h"
#include "attune/tensor/quantised.h"

namespace attune {

/// What a GGUF file's number of an element type means: numbers one by one, or blocks of them.
using GgufFormat = std::variant<DType, QuantisedFormat>;

/// One element type as GGUF files number and name it
/// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, "ggml_type").
struct GgufType {
  std::uint32_t number = 0;
  std::string_view name;                       // "Q4_K"
  std::int64_t block_values = 1, block_bytes;  // a block holds so many values in so many bytes
  std::optional<GgufFormat> format = {};       // none where Attune does not read the values
};

/// Null for a number that no version of the format has given out, or that was withdrawn.
const GgufType* gguf_type(std::uint32_t number);
/// The type that a format is written as; null for U8, which the format lacks.
const GgufType* gguf_type_of(const GgufFormat& format);

}  // namespace attune
