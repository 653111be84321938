#include "attune/bench/bench.h"

#include "attune/bench/attention.h"
#include "attune/bench/generation.h"
#include "attune/bench/matmul.h"
#include "attune/bench/training.h"

namespace attune::bench {

const std::vector<Bench>& benches() {
  static const std::vector<Bench> all = {
      {"matmul", "f32 matrix products M x N x K, beside the rate of plain multiply-adds or of reading memory", matmul},
      {"attention", "self-attention of 12 heads of 64 over one sequence, beside the rate of plain multiply-adds",
       attention},
      {"train", "two trainings beside the rate of plain multiply-adds and the least memory of AdamW", training,
       write_training_cases},
      {"generate", "decoding with a cache, beside the rate of reading the weights", generation},
  };
  return all;
}

}  // namespace attune::bench
