#pragma once

#include "attune/models/decoder/llama_family.h"

namespace attune {

/// The mixtures of Qwen 2 and 3: which layers have one, and how large it is.
struct QwenExperts {
  ExpertSizes sizes;
  std::vector<bool> in_layer;  // others have a feed-forward network

  /// `defaults`: where the config is silent.
  static QwenExperts read(const ConfigReader& config, std::int64_t layers, const ExpertSizes& defaults);

  bool any() const;
  bool at(Place place) const { return in_layer.at(static_cast<std::size_t>(place.layer)); }
};

}  // namespace attune
