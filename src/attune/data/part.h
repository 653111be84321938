#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace attune {

/// Where a document of a split is. `unfamiliar` is the test of what training has never seen the like of.
enum class Part : std::uint8_t { train, validation, test, unfamiliar, dropped };

inline constexpr std::array<Part, 4> written_parts = {Part::train, Part::validation, Part::test, Part::unfamiliar};

inline std::string_view name_of(Part part) {
  constexpr std::array<std::string_view, 5> names = {"train", "validation", "test", "unfamiliar", "dropped"};
  return names[static_cast<std::size_t>(part)];
}

}  // namespace attune
