#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "attune/data/part.h"

namespace attune {

/// What is dealt out: whole components of documents with how many each has of every stratum.
struct Strata {
  struct Count {
    std::int32_t stratum;
    std::int64_t documents;
  };
  std::vector<std::vector<Count>> components;
  std::int32_t strata = 0;
  std::int32_t evaluation_only = -1;  // a stratum that training should not get, or -1
};

/// Deals components to train, validation and test so that each part comes near its fraction of every stratum and of the
/// size. Greedy: the largest component first, equal ones in an order drawn by the seed, each to the part where sum over
/// strata and size of (have - want)^2 / want rises least (the earlier part on a tie). A document of the stratum
/// evaluation_only costs training 1, and its wanted numbers are shared among validation and test; a component of
/// nothing else never falls to training where there is another part.
std::vector<Part> deal(const Strata& strata, const std::array<double, 3>& fractions, std::uint64_t seed);

}  // namespace attune
