#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attune/base/config_reader.h"

namespace attune {

/// Lengths as they are typed: "512", "1024", or "512..4096": from the first by doubling, up to the last at most.
/// Several together, ascending, each once. Throws UsageError that names `option`.
std::vector<std::int64_t> read_lengths(const std::string& option, const std::vector<std::string>& values);

/// Throws UsageError that names `option` and the value that is no number or outside the range.
std::vector<double> read_numbers(const std::string& option, const std::vector<std::string>& values, ConfigRange range);

}  // namespace attune
