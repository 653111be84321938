#pragma once

#include <span>
#include <vector>

#include "attune/decode/beam_search.h"

namespace attune {

/// One group of beams of one input's search: its running beams and the best that are finished.
class BeamGroup {
 public:
  struct Beam {
    Decoder::Sequence sequence;
    std::vector<std::int64_t> ids = {};
    double score = 0;  // sum of log-probabilities
  };

  /// Begins with one beam of no token. The options must outlive it.
  BeamGroup(const BeamOptions& options, std::int64_t max_tokens, Decoder::Sequence sequence)
      : options_(&options), max_tokens_(max_tokens) {
    running_.push_back({.sequence = sequence});
  }

  bool done() const { return done_; }
  /// Best first, all of one length; none when it is done.
  const std::vector<Beam>& running() const { return running_; }
  /// Best first, at most as many as the group has beams.
  const std::vector<BeamResult>& finished() const { return finished_; }

  /// One token more. `log_probabilities`: [running beams, vocabulary]. Throws Error where no token is possible.
  void advance(Decoder& decoder, std::span<const float> log_probabilities);

 private:
  struct Candidate;
  static bool better(const Candidate& a, const Candidate& b);
  std::size_t beams() const { return static_cast<std::size_t>(options_->beams / options_->groups); }
  std::vector<Candidate> extend(std::span<const float> log_probabilities) const;
  void finish(const Candidate& c, std::int64_t length, bool stops);
  void move_on(Decoder& decoder, const std::vector<Candidate>& chosen);
  double penalised(double score, std::int64_t length) const;
  bool nothing_to_gain(std::int64_t length) const;

  const BeamOptions* options_;
  std::int64_t max_tokens_;
  std::vector<Beam> running_;
  std::vector<BeamResult> finished_ = {};
  bool done_ = false;
};

}  // namespace attune
