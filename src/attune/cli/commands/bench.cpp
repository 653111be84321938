#include <fmt/core.h>

#include <cstdio>

#include "attune/base/error.h"
#include "attune/bench/bench.h"
#include "attune/cli/commands/commands.h"

namespace attune {

namespace {

struct BenchOptions {
  std::string name, only, input;
  bool json = false;
};

int run_bench(const BenchOptions& options, const Session& session) {
  std::vector<std::string> names;
  for (const bench::Bench& one : bench::benches()) {
    names.push_back(one.name);
    if (one.name != options.name) continue;
    if (!options.input.empty()) {
      check(static_cast<bool>(one.write_input),
            "bench {}: it makes up its input from sizes alone: there is none to write", one.name);
      one.write_input(options.input);
      return 0;
    }
    try {
      check_case(one, options.only);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
    if (!options.json) fmt::print("{}: {}\n\n{}\n", one.name, one.title, bench::text_header());
    one.run({[&](const bench::Measurement& m) {
               fmt::print("{}\n", options.json ? json_line(m) : text_line(m));
               std::fflush(stdout);
             },
             options.only},
            session.run);
    return 0;
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  throw UsageError(fmt::format("there is no benchmark \"{}\": expected one of {}", options.name, all));
}

}  // namespace

Command bench_command() {
  return {"bench", "Look inside", "what this machine gives, with its limit beside it", "attune bench matmul",
          [](Arguments& arguments) -> Action {
            auto options = std::make_shared<BenchOptions>();
            std::string names;
            for (const bench::Bench& one : bench::benches()) names += (names.empty() ? "" : ", ") + one.name;
            arguments.positional("NAME", options->name, names);
            arguments.option("--case", options->only, "only cases whose names have this in them");
            arguments.option("--export", options->input,
                             "measure nothing: write the input, for peers, to this directory");
            arguments.flag("--json", options->json, "a JSON line a case");
            return [options](const Session& session) { return run_bench(*options, session); };
          }};
}

}  // namespace attune
