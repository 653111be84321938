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

  /// Begins with one beam of no token, for the input of that number. The options must outlive it.
  BeamGroup(const BeamOptions& options, std::size_t input, std::int64_t max_tokens, Decoder::Sequence sequence)
      : options_(&options), input_(input), max_tokens_(max_tokens) {
    running_.push_back({.sequence = sequence});
  }

  bool done() const { return done_; }
  /// Best first, all of one length; none when it is done.
  const std::vector<Beam>& running() const { return running_; }
  /// Best first, at most as many as the group has beams.
  const std::vector<BeamResult>& finished() const { return finished_; }

  /// Chooses the next token of each beam that goes on. `log_probabilities`: [running beams, vocabulary]. Touches
  /// nothing that other groups' inputs share. Throws Error where no token is possible.
  void choose(std::span<const float> log_probabilities);
  /// The tokens that choose() chose.
  std::vector<std::int64_t> chosen() const;
  /// The beams become those that choose() chose. A parent's cache goes to its first child; others fork it.
  void move_on(Decoder& decoder);

 private:
  /// A beam with one token more.
  struct Candidate {
    std::size_t beam = 0;
    std::int64_t token = 0;
    double score = 0;
  };
  static bool better(const Candidate& a, const Candidate& b);
  std::size_t beams() const { return static_cast<std::size_t>(options_->beams / options_->groups); }
  std::vector<Candidate> extend(std::span<const float> log_probabilities) const;
  bool stops(const Candidate& c) const;
  void finish(const Candidate& c, std::int64_t length, bool stops);
  double penalised(double score, std::int64_t length) const;
  bool nothing_to_gain(const std::vector<Candidate>& going_on, std::int64_t length) const;

  const BeamOptions* options_;
  std::size_t input_;
  std::int64_t max_tokens_;
  std::vector<Beam> running_;
  std::vector<Candidate> chosen_ = {};
  std::vector<BeamResult> finished_ = {};
  bool done_ = false;
};

}  // namespace attune
