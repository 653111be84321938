#pragma once

#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench quantised`: operations a second (10^9, two for each product) of matmuls M x N x K with weights in
/// blocks or as int8 copies, on one thread and on num_threads(), each beside its limit: the rate of plain products of
/// bytes or, where the weights must be read faster than that, the rate of reading as much memory.
void quantised_matmul(const Report& report, const Run& run = {});
std::vector<std::string> quantised_matmul_names();  // of its cases

}  // namespace attune::bench
