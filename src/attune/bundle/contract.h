#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/base/json.h"
#include "attune/evaluate/calibration_contract.h"

namespace attune {

/// What happens to an input that is longer than the model's.
struct LongPolicy {
  enum class Kind {
    refuse,
    chunk,   // pieces one behind the other
    stride,  // pieces that share a quarter of their tokens with the one before
  } kind = Kind::refuse;
  std::int64_t longest = 0;  // tokens of one piece, special tokens included

  static Kind parse(const std::string& name);  // "refuse", "chunk", "stride"; else Error
};
std::string name_of(LongPolicy::Kind kind);

/// What the model learned from, part by part.
struct DataSource {
  std::string part, file, sha256;
  std::int64_t documents = 0;
};

/// A model's contract with its users, attune.json beside the weights: what they must know to trust it, and what the
/// program enforces.
struct Contract {
  std::string task;                 // "classify", "mlm", "lm", "translate", "tag", "answer"
  std::vector<std::string> labels;  // by class number
  LongPolicy long_policy;
  std::optional<evaluate::CalibrationContract> calibration;  // temperature, thresholds, novelty
  std::vector<DataSource> data;
  JsonValue evaluation;  // figures as `evaluate` wrote them; null before

  /// Throws Error on what attune.json may not hold.
  static Contract read(const Path& file);
  std::string text() const;  // as attune.json holds it
  void write(const Path& file) const;
};

}  // namespace attune
