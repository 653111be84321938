#include <fmt/format.h>

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
#include "attune/workflows/examples.h"

namespace attune {

namespace {

struct ExampleArguments {
  std::string name;
  std::optional<std::string> output;
};

int run_example(const ExampleArguments& a, const Session& session) {
  if (a.name.empty()) {
    for (const auto& one : workflows::examples()) fmt::print("{:<12} {}\n", one.name, one.summary);
    return 0;
  }
  const workflows::BundledExample& chosen = workflows::example_named(a.name);
  check_usage(a.output.has_value(), "example {}: where to? give --output DIR", a.name);
  chosen.write(*a.output, session.seed);
  fmt::print("{}: written; its README.md tells more. Next:\n  {}\n", *a.output,
             fmt::format(fmt::runtime(chosen.next), *a.output));
  return 0;
}

}  // namespace

Command example_command() {
  return {"example", "Data", "writes a bundled example; without a name, lists them",
          "attune example clinical --output clinical-example", [](Arguments& arguments) -> Action {
            auto a = std::make_shared<ExampleArguments>();
            arguments.optional_positional("NAME", a->name, "of the example");
            arguments.option("--output", a->output, "directory for it");
            arguments.needs({"--output"}, "NAME");
            return [a](const Session& session) { return run_example(*a, session); };
          }};
}

}  // namespace attune
