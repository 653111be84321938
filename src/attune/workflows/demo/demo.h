#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attune/base/run.h"

namespace attune {

/// What a demonstration found: its claim, the numbers that show it, and whether they do.
struct DemoResult {
  struct Figure {
    std::string what;
    double value = 0;
  };
  std::string claim = {};
  std::vector<Figure> figures = {};
  bool holds = false;
};

/// One of the book's claims as a small show with numbers.
struct Demo {
  std::string name, title;
  std::function<DemoResult(std::uint64_t seed, const Run& run)> run;
};

/// In the order of the book: scale, permutation, future, cost, block.
const std::vector<Demo>& demos();

// The shows; each stands in a file of its name.
DemoResult demo_scale(std::uint64_t seed, const Run& run);
DemoResult demo_permutation(std::uint64_t seed, const Run& run);
DemoResult demo_future(std::uint64_t seed, const Run& run);
DemoResult demo_cost(std::uint64_t seed, const Run& run);
DemoResult demo_block(std::uint64_t seed, const Run& run);

}  // namespace attune
