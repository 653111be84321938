#include <fmt/core.h>

#include <cmath>

#include "attune/base/error.h"
#include "attune/bundle/bundle.h"
#include "attune/cli/commands/commands.h"

namespace attune {

namespace {

int run_verify(const std::string& model) {
  std::optional<Bundle> bundle;
  try {
    bundle = load_bundle(model);
  } catch (const Error& error) {
    fmt::print("{}\n", error.what());
    return exit_answer_is_no;
  }
  int faults = 0;
  for (const Parameter& p : bundle->model->parameters().all()) {
    std::int64_t not_finite = 0;
    for (float value : p.numbers().to_vector<float>()) not_finite += !std::isfinite(value);
    if (not_finite == 0) continue;
    fmt::print("{}: {} of {} values are not finite\n", p.file_name, not_finite, p.shape().numel());
    ++faults;
  }
  if (faults > 0) return exit_answer_is_no;
  fmt::print("{}: {} tensors, {} parameters: present, of the right shape, finite\n", model,
             bundle->model->parameters().all().size(), bundle->model->parameters().count());
  return 0;
}

}  // namespace

Command verify_command() {
  return {"verify", "Look inside",
          "checks that every weight is present, of the right shape and finite; exit 3 where not",
          "attune verify run/model", [](Arguments& arguments) -> Action {
            auto model = std::make_shared<std::string>();
            arguments.positional("MODEL", *model, "model directory or .gguf file");
            return [model](const Session&) { return run_verify(*model); };
          }};
}

}  // namespace attune
