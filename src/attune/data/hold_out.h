#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/data/documents.h"

namespace attune {

struct SplitOptions;

/// What held-out values make of a document: familiar has none of them, novel has no other (in the fields that it has),
/// mixed has both and can be on neither side.
enum class Novelty : std::uint8_t { familiar, novel, mixed };

struct HeldOut {
  std::map<std::string, std::vector<std::string>> values;  // sorted
  std::vector<Novelty> novelty;                            // for each document
  std::vector<char> unfamiliar;                            // for each component: whether its side is the unfamiliar one
};

/// Takes options.held_out_values, or chooses values so that few documents are lost and about options.hold_out_fraction
/// of them are unfamiliar. Candidates: every value of every field together with the values of the other fields that
/// occur mostly with it (so that data made with reserved templates and sources gives those), unions of such sets, and
/// values drawn by the seed. Taken is the one with the least
///     dropped / documents + |unfamiliar / documents - hold_out_fraction| + labels that it lacks / labels / 10
/// among those that leave every label to training. Throws Error where there is none, a field or a named value is in no
/// document, or values are given for some of the fields only.
///
/// `component`: for each document the number of its component.
HeldOut hold_out(std::span<const Document> documents, std::span<const std::int64_t> component,
                 const SplitOptions& options, const DocumentFormat& format, const Run& run = {});

}  // namespace attune
