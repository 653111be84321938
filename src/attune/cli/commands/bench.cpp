#include <fmt/core.h>

#include <cstdio>

#include "attune/base/error.h"
#include "attune/bench/attention_families.h"
#include "attune/bench/bench.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/numbers.h"

namespace attune {

namespace {

struct BenchOptions {
  std::string name, only, input, model;
  bool json = false;
  // attention by families
  std::vector<std::string> families, lengths = {"512..131072"};
  bool fit = false;
  double budget = 20;
};

int run_families(const BenchOptions& options, const Session& session) {
  check_usage(options.name == "attention", "--families is of the benchmark \"attention\", not of \"{}\"", options.name);
  auto print = [&](const auto& result) {
    fmt::print("{}\n", options.json ? json_line(result) : text_line(result));
    std::fflush(stdout);
  };
  bench::FamilyReport report{.cost = print};
  if (options.fit) report.fit = print;
  attention_families({options.families, read_lengths("--lengths", options.lengths), options.budget}, report,
                     session.run);
  return 0;
}

int run_bench(const BenchOptions& options, const Session& session) {
  if (!options.families.empty()) return run_families(options, session);
  std::vector<std::string> names;
  for (const bench::Bench& each : bench::benches()) {
    names.push_back(each.name);
    if (each.name != options.name) continue;
    const bench::Bench one = options.model.empty() ? each : bench::with_model(each);
    if (!options.input.empty()) {
      check_usage(static_cast<bool>(one.write_input),
                  "bench {}: it makes up its input from sizes alone: there is none to write", one.name);
      one.write_input(options.input);
      return 0;
    }
    check_case(one, options.only);
    if (!options.json) fmt::print("{}: {}\n\n{}\n", one.name, one.title, bench::text_header());
    one.run({[&](const bench::Measurement& m) {
               fmt::print("{}\n", options.json ? json_line(m) : text_line(m));
               std::fflush(stdout);
             },
             options.only, options.model},
            session.run);
    return 0;
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  throw UsageError(fmt::format("there is no benchmark \"{}\": expected one of {}", options.name, all));
}

}  // namespace

Command bench_command() {
  return {
      "bench", "Look inside", "what this machine gives, with its limit beside it", "attune bench matmul",
      [](Arguments& arguments) -> Action {
        auto options = std::make_shared<BenchOptions>();
        std::string names;
        for (const bench::Bench& one : bench::benches()) names += (names.empty() ? "" : ", ") + one.name;
        arguments.positional("NAME", options->name, names);
        arguments.option("--case", options->only, "only cases whose names have this in them");
        arguments.option("--model", options->model,
                         "generate: a model's files, whose reading, writing, memory and start are measured");
        arguments.option("--export", options->input, "measure nothing: write the input, for peers, to this directory");
        arguments.flag("--json", options->json, "a JSON line a case");
        arguments.option("--families", options->families,
                         "attention: these families in its place, or all, one layer of 4 heads of 64 each", true);
        arguments.option("--lengths", options->lengths, "of --families: 512,1024, or doubling, 512..131072", true);
        arguments.flag("--fit", options->fit, "of --families: how time and memory grow by length");
        arguments.option("--budget", options->budget, "of --families: seconds that one pass may take", {.above = 0});
        arguments.needs({"--lengths", "--fit", "--budget"}, "--families");
        arguments.excludes({"--case", "--model", "--export"}, "--families");
        arguments.excludes({"--case", "--model", "--json"}, "--export");
        return [options](const Session& session) { return run_bench(*options, session); };
      }};
}

}  // namespace attune
