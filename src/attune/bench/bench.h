#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attune/base/file.h"
#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// One of `attune bench`: what it measures, and the function that reports a line a case.
struct Bench {
  std::string name, title;
  std::vector<std::string> cases;
  std::function<void(const Report& report, const Run& run)> run;
  /// Where a peer needs the same input: writes it into a new directory. May be empty.
  std::function<void(const Path& directory)> write_input = {};
  /// What it measures with a model's files (Report::model), and its cases. May be empty.
  std::function<void(const Report& report, const Run& run)> run_model = {};
  std::vector<std::string> model_cases = {};
};

/// Throws Error that names the cases where none of them has `only` in its name: nothing would be measured.
void check_case(const Bench& bench, const std::string& only);
/// The benchmark as it is with a model's files. Throws Error where it takes none.
Bench with_model(const Bench& bench);

/// All of them, by the order of `attune bench --help`.
const std::vector<Bench>& benches();

}  // namespace attune::bench
