// Whatever the bytes, a JSON line is a document or an Error; a document's line reads back as the same document.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "attune/base/error.h"
#include "attune/data/documents.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attune::DocumentFormat format;
  format.empty_text = true;
  attune::Document first;
  try {
    first = attune::parse_document(std::string_view(reinterpret_cast<const char*>(data), size), 1, format);
  } catch (const attune::Error&) {
    return 0;
  }
  attune::Document second = attune::parse_document(attune::to_json_line(first, format), 1, format);
  if (second.id != first.id || second.text != first.text || second.label != first.label ||
      second.fields != first.fields)
    std::abort();
  return 0;
}
