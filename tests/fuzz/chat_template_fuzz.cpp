// Whatever the bytes, a chat template is rendered or refused with an Error, within its limits; twice the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/text/template/template.h"

namespace {

using attune::jinja::Template;
using attune::jinja::Variables;

std::string result_of(std::string_view text, const Variables& variables) {
  try {
    return Template::parse(text, "fuzz").render(variables);
  } catch (const attune::Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Variables variables = [] {
    Variables all{.now = std::tm{}, .limits = {.depth = 1000, .steps = 20'000, .bytes = 4'000'000, .output = 100'000}};
    all.values.emplace_back("messages", attune::parse_json(R"([{"role": "user", "content": "Hi \u00e9 <b>"},
        {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"x": [1, 2.5, true]}}}]}])",
                                                           "messages"));
    all.values.emplace_back("tools", attune::Json());
    all.values.emplace_back("add_generation_prompt", attune::Json(true));
    return all;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (result_of(text, variables) != result_of(text, variables)) std::abort();
  return 0;
}
