#pragma once

#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bench/measurement.h"

namespace attune::bench {

/// `attune bench generate --model MODEL`: a causal model's files from `report.model`. Tokens a second of reading 512 at
/// once ("prefill 512") and of writing 128 behind them, the most probable each time ("decode 128"), on one thread and
/// on num_threads(); the most memory meanwhile ("peak memory"); and the time from the start of a process of this
/// program to its first written token, with the file in memory already ("cold start"). Limits: plain products of bytes
/// of the layers' weights; reading all weights once a token; the weights and the cache; reading the weights once.
void model_generation(const Report& report, const Run& run);
std::vector<std::string> model_generation_names();  // of its cases

}  // namespace attune::bench
