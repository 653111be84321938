// Whatever the bytes, TOML text becomes a JSON value or is refused with an Error; the value is written, or a text in it
// is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    attune::Json value = attune::parse_toml({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!value.is_object()) std::abort();
    attune::to_text(value);
  } catch (const attune::Error&) {
  }
  return 0;
}
