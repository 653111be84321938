#pragma once

#include <functional>
#include <string>

namespace attune::bench {

/// One line of `attune bench`: what this machine gave, and the most that it could give.
struct Measurement {
  std::string bench;  // "matmul"
  std::string name;   // the case: "2048x768x768"
  int threads = 1;
  double value = 0;
  std::string unit;  // "GFLOP/s", "tokens/s": more is better; "MB", "times", "ppm": less is
  double limit = 0;  // in the same unit, measured on this machine in the same run
};

/// Where a benchmark tells its lines, and which of its cases are wanted.
struct Report {
  std::function<void(const Measurement&)> tell;
  std::string only = {};   // a part of the wanted cases' names
  std::string model = {};  // files of a model, for a benchmark that takes one (Bench::run_model)

  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }
  void operator()(const Measurement& m) const { tell(m); }
};

/// {"bench": .., "case": .., "threads": .., "value": .., "unit": .., "limit": ..}
std::string json_line(const Measurement& m);
/// The same for people, in columns.
std::string text_line(const Measurement& m);
std::string text_header();

}  // namespace attune::bench
