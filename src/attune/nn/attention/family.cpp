#include "attune/nn/attention/family.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

namespace {

std::vector<FamilyEntry>& entries() {
  static std::vector<FamilyEntry> all;
  return all;
}

const RegisterFamily full({
    .name = "full",
    .paper = "Vaswani et al. 2017, Attention is all you need",
    .build = [](const ConfigReader&, const FamilyUse& use, const Weights&) -> FamilyParts {
      return {.rule = {.mask = use.causal ? causal() : bidirectional()}};
    },
});

}  // namespace

RegisterFamily::RegisterFamily(FamilyEntry entry) {
  auto& all = entries();
  all.insert(std::ranges::upper_bound(all, entry.name, {}, &FamilyEntry::name), std::move(entry));
}

const std::vector<FamilyEntry>& attention_families() { return entries(); }

const FamilyEntry& named_family(const ConfigReader& config, bool causal) {
  const std::string name = config.string_or("family", "full");
  std::string fitting;
  for (const FamilyEntry& entry : entries()) {
    const bool fits = causal ? entry.in_decoder : entry.in_encoder;
    if (fits && entry.name == name) return entry;
    if (fits) fitting += (fitting.empty() ? "" : ", ") + entry.name;
  }
  config.reject("family", (causal ? "expected one that can be causal: " : "expected one of an encoder: ") + fitting);
}

FamilyParts build_family(const ConfigReader& config, const FamilyUse& use, const Weights& w) {
  return named_family(config, use.causal).build(config, use, w);
}

}  // namespace attune
