// Whatever the bytes, a GGUF header is read or refused with an Error; what it says of tensors lies within the file, and
// no two of them share a byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "attune/base/error.h"
#include "attune/bundle/gguf_tokenizer.h"
#include "attune/checkpoint/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto header = attune::parse_gguf_header(std::as_bytes(std::span(data, size)), "fuzz");
    std::int64_t at = 0;
    for (const attune::GgufTensorInfo& info : header.tensors) {
      if (info.begin < at || info.end < info.begin || info.end > static_cast<std::int64_t>(size)) std::abort();
      at = info.end;
    }
    // The metadata of a tokenizer are read as strictly.
    if (attune::has_gguf_tokenizer(header.metadata))
      attune::Tokenizer::parse(attune::gguf_tokenizer_json(header.metadata), "fuzz");
  } catch (const attune::Error&) {
  }
  return 0;
}
