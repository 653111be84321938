#pragma once

#include <cstddef>
#include <string_view>

namespace attune {

/// Where the extended grapheme cluster (UAX #29, table 1b and rules GB3 to GB13) that begins at `begin` < size ends in
/// valid UTF-8. Rule GB9c (conjuncts of Indic scripts) is left out: ICU before 74 has no data for it.
std::size_t end_of_cluster(std::string_view text, std::size_t begin);

}  // namespace attune
