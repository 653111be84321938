// Whatever the bytes, JSON text is read or refused with an Error; what was read is written, and reads again as the same
// value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include "attune/base/json_values.h"

#include "attune/base/config_reader.h"
#include "attune/base/error.h"
#include "attune/base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  try {
    Json value = parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
    try {
      if (parse_json(to_text(value), "again") != value) std::abort();
    } catch (const Error&) {
      std::abort();  // what was accepted once is accepted
    }
    ConfigReader config(value, "fuzz");
    config.integer_or("a", 0, {.at_least = 1});
    config.object_or_empty("o").strings_or("s", {});
    config.finish();
  } catch (const Error&) {
  }
  return 0;
}
