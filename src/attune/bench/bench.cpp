#include "attune/bench/bench.h"

#include "attune/bench/matmul.h"

namespace attune::bench {

const std::vector<Bench>& benches() {
  static const std::vector<Bench> all = {
      {"matmul", "f32 matrix products M x N x K, beside the rate of plain multiply-adds or of reading memory", matmul},
  };
  return all;
}

}  // namespace attune::bench
