#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/run.h"
#include "attune/data/documents.h"
#include "attune/data/duplicates.h"
#include "attune/data/leaks.h"
#include "attune/data/part.h"

namespace attune {

struct SplitOptions {
  /// Documents that share a value of any of these fields stay together (patient, author, source package). Several
  /// fields make connected components. A document without the field is a group of its own. None: every document is its
  /// own group.
  std::vector<std::string> group_fields = {};
  /// With fields here there is also an unfamiliar part, which shares no group and no value of these fields with the
  /// others.
  std::vector<std::string> hold_out = {};
  /// The values to hold out, by field; where empty they are chosen (hold_out.h).
  std::map<std::string, std::vector<std::string>> held_out_values = {};
  double hold_out_fraction = 0.15;  // of the documents, which chosen values aim at
  /// The field whose values are balanced over the parts: nothing said is the label, "" balances sizes alone.
  std::optional<std::string> stratify = {};
  std::array<double, 3> fractions = {0.7, 0.1, 0.2};  // train, validation, test; of what is not unfamiliar
  DuplicateRule duplicates = {};
  std::uint64_t seed = 0;
};

/// A document that is in no part, and why: nothing is left out in silence.
struct Dropped {
  std::int64_t document;
  std::string why;
};

struct Split {
  std::vector<Part> parts;       // for each document
  std::vector<Dropped> dropped;  // in the documents' order
  std::map<std::string, std::vector<std::string>> held_out;
  std::vector<std::string> warnings;  // a label that a part lacks
  std::int64_t groups = 0;            // components by group fields and duplicates
  std::int64_t duplicate_pairs = 0;   // that joined groups
  LeakReport leaks;                   // clean, or split_documents would have thrown

  std::vector<std::int64_t> of(Part part) const;  // documents in order
};

/// Splits documents into train, validation, test and, with hold_out, unfamiliar. Deterministic: the same documents in
/// the same order, options and seed give the same parts.
///
/// 1. Documents that share a group, and exact or near duplicates (DuplicateRule), become one component, which is never
/// divided.
/// 2. With hold_out, components of documents with held-out values alone are unfamiliar. One that also has familiar
/// documents goes
///    to the side where more of its documents can stay (to the unfamiliar one on a tie), and, while that part has less
///    than 5 % of the documents, to the unfamiliar one; its other documents are dropped. So is a document with some
///    held-out and some familiar values.
/// 3. The other components go one by one, the largest first and equal ones in an order drawn by the seed, to the part
/// that they
///    bring nearest to its fraction of every label: the least rise of sum((have - want)^2 / want) over labels and size.
/// 4. Where any document has a label, those without one (of no category) are evaluation's alone: validation, test and
/// unfamiliar.
///    One whose group falls to training is dropped.
/// 5. The result is checked again from the documents (leaks.h).
///
/// Throws Error where a component holds more than half of the documents (it names the fields, and hold_out as the way
/// out), a part would be empty, a field is in no document, the fractions do not add up to 1, or a leak is found;
/// Cancelled where the run is stopped.
Split split_documents(std::span<const Document> documents, const SplitOptions& options,
                      const DocumentFormat& format = {}, const Run& run = {});

/// A document's value of a field, or nullptr: "label" by the format's name is its label.
const std::string* value_of(const Document& document, const std::string& field, const DocumentFormat& format);

}  // namespace attune
