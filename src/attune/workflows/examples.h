#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attune/base/file.h"

namespace attune::workflows {

/// Data that comes with the program.
struct BundledExample {
  std::string name, summary;
  std::function<void(const Path& directory, std::uint64_t seed)> write;  // seed 0: the one that figures are quoted for
  std::string next;  // the command to go on with; {} stands for the directory
};

const std::vector<BundledExample>& examples();
/// Throws Error that names the near one.
const BundledExample& example_named(const std::string& name);

}  // namespace attune::workflows
