#pragma once

#include <cstdint>
#include <vector>

namespace attune {

/// How the frequencies of rotary positions are changed for sequences that are longer than those of the first training,
/// as transformers computes it (its "rope_type"s).
struct RopeScaling {
  enum class Kind {
    none,
    linear,    // all are divided by `factor` (Chen et al. 2023, "Position interpolation")
    dynamic,   // theta grows with the request's length beyond the original (bloc97, emozilla 2023, "dynamic NTK")
    yarn,      // slow ones are divided, fast ones left, those between blended (Peng et al. 2023, "YaRN", section 3.2)
    llama3,    // the same by another blend (Llama 3.1's config)
    longrope,  // each has a divisor of its own, for short and for long requests (Ding et al. 2024, "LongRoPE")
  };
  Kind kind = Kind::none;
  double factor = 1;
  double original_positions = 8192;  // tokens of a sequence in the first training; all but linear
  /// yarn and longrope: cosines and sines are multiplied by it (YaRN, section 3.4: its square is on the scores).
  double magnitude = 1;

  /// llama3: those with fewer turns in original_positions than `low` are divided, those with more than `high` left.
  double low_frequency_factor = 1, high_frequency_factor = 4;
  /// yarn: the same, with more turns than `fast` left; `truncate` rounds the bounds outwards to whole frequencies.
  double beta_fast = 32, beta_slow = 1;
  bool truncate = true;
  /// longrope: a divisor of each frequency, for requests of up to original_positions tokens and for longer ones.
  std::vector<double> short_factors = {}, long_factors = {};

  /// The same sequence has other frequencies in a longer request: they must be fixed when a request starts.
  bool depends_on_length() const { return kind == Kind::dynamic || kind == Kind::longrope; }
};

/// What cosines and sines are multiplied by where a config does not say: 0.1 mscale ln(factor) + 1 (YaRN, equation 22,
/// where mscale is 1), and sqrt(1 + ln(factor) / ln(original_positions)) (LongRoPE's code); 1 where factor <= 1.
double yarn_magnitude(double factor, double mscale = 1);
double longrope_magnitude(double factor, double original_positions);

/// The angles of one position step, [dims / 2]: theta^(-2i / dims), scaled for a request of `length` tokens. Throws
/// Error where a value is out of range.
std::vector<double> scaled_frequencies(const RopeScaling& scaling, double theta, std::int64_t dims,
                                       std::int64_t length);

}  // namespace attune
