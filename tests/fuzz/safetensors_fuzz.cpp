// Whatever the bytes, a safetensors header is read or refused with an Error; what it says of tensors lies within the
// file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "attune/base/error.h"
#include "attune/checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    auto header = attune::parse_safetensors_header(std::as_bytes(std::span(data, size)), "fuzz");
    std::int64_t bytes = 0;
    for (const attune::TensorInfo& info : header.tensors) {
      if (info.begin < 0 || info.end < info.begin || info.end > static_cast<std::int64_t>(size)) std::abort();
      bytes += info.end - info.begin;
    }
    if (bytes > static_cast<std::int64_t>(size)) std::abort();
  } catch (const attune::Error&) {
  }
  return 0;
}
