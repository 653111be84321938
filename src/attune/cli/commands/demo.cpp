#include <fmt/core.h>

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
#include "attune/workflows/demo/demo.h"

namespace attune {

namespace {

bool show(const Demo& demo, const Session& session) {
  DemoResult result = demo.run(session.seed, session.run);
  fmt::print("{}: {}\n  {}\n", demo.name, demo.title, result.claim);
  for (const auto& figure : result.figures) fmt::print("  {:>14.6g}  {}\n", figure.value, figure.what);
  fmt::print("  {}\n\n", result.holds ? "shown" : "NOT shown by these numbers");
  return result.holds;
}

int run_demo(const std::string& name, const Session& session) {
  bool all = true, found = false;
  std::vector<std::string> names;
  for (const Demo& demo : demos()) {
    names.push_back(demo.name);
    if (!name.empty() && name != demo.name) continue;
    found = true;
    all = show(demo, session) && all;
  }
  std::string near = nearest_name(name, names);
  check_usage(found, "there is no demo \"{}\"{}: attune demo shows all", name,
              near.empty() ? "" : ", did you mean \"" + near + "\"?");
  return all ? 0 : exit_answer_is_no;
}

}  // namespace

Command demo_command() {
  return {"demo", "Look inside", "the book's claims about attention, shown with numbers", "attune demo scale",
          [](Arguments& arguments) -> Action {
            auto name = std::make_shared<std::string>();
            arguments.optional_positional("NAME", *name, "scale, permutation, future, cost or block; all without it");
            return [name](const Session& session) { return run_demo(*name, session); };
          }};
}

}  // namespace attune
