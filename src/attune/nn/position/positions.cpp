#include "attune/nn/position/positions.h"

#include <algorithm>

namespace attune {

namespace {

std::vector<PositionEntry>& entries() {
  static std::vector<PositionEntry> all;
  return all;
}

const RegisterPositions none({
    .name = "none",
    .paper = "Haviv et al. 2022, Transformer language models without positional encodings",
    .build = [](const ConfigReader&, const PositionUse&, const Weights&) { return PositionParts{}; },
});

}  // namespace

RegisterPositions::RegisterPositions(PositionEntry entry) {
  auto& all = entries();
  all.insert(std::ranges::upper_bound(all, entry.name, {}, &PositionEntry::name), std::move(entry));
}

const std::vector<PositionEntry>& position_methods() { return entries(); }

PositionParts build_positions(const ConfigReader& config, const PositionUse& use, const Weights& w) {
  const std::string name = config.string_or("method", use.otherwise);
  std::string known;
  for (const PositionEntry& entry : entries()) {
    if (entry.name == name) return entry.build(config, use, w);
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  config.reject("method", "expected a position method: " + known);
}

}  // namespace attune
