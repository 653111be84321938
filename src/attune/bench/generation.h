#pragma once

#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench generate`: tokens a second that GPT-2 (12 layers of 768) writes, for one sequence and for eight
/// decoded together, on one thread and on num_threads(); and how many times as long the eight take. Throws Error where
/// the eight are not, token by token, what each gives alone.
void generation(const Report& report, const Run& run = {});
std::vector<std::string> generation_names();  // of its cases

}  // namespace attune::bench
