#pragma once

#include <array>
#include <vector>

#include "attune/nn/position/resize.h"
#include "attune/nn/position/rotary.h"

namespace attune {

/// Time, row and column of each token of one sequence of text, pictures, video and sound (Wang et al. 2024, "Qwen2-VL",
/// section 2.1, "M-RoPE"; Xu et al. 2025, "Qwen2.5-Omni", section 2.2, "TMRoPE"). Parts are added in the order of their
/// tokens; each begins one beyond the largest number of those before it. Sizes are those of the tokens that the
/// language model sees, after merging.
class SpaceTimePositions {
 public:
  /// Text, or sound: all three numbers grow by one a token (of sound one is 40 ms).
  void text(std::int64_t tokens);
  void sound(std::int64_t tokens) { text(tokens); }
  /// Tokens that stand at one position: the two that begin a video with sound, and the two that end it.
  void together(std::int64_t tokens);
  void picture(const GridSize& size) { video(1, size, 0); }
  /// Frames one behind the other, each row by row; a frame stands `step` positions of time behind the one before, cut
  /// to whole positions (Qwen2.5-Omni: 25 a second, so that time is the sound's; Qwen2-VL: 1 a frame).
  void video(std::int64_t frames, const GridSize& size, double step = 1);
  /// A video and its sound, which begin together: the tokens of each `chunk` positions of time, first those of the
  /// frames, then those of the sound (Qwen2.5-Omni: 50, two seconds).
  void video_with_sound(std::int64_t frames, const GridSize& size, double step, std::int64_t sound_tokens,
                        std::int64_t chunk);

  const std::vector<std::int64_t>& time() const { return axes_[0]; }
  const std::vector<std::int64_t>& rows() const { return axes_[1]; }
  const std::vector<std::int64_t>& columns() const { return axes_[2]; }
  const std::array<std::vector<std::int64_t>, 3>& axes() const { return axes_; }
  std::int64_t tokens() const { return static_cast<std::int64_t>(axes_[0].size()); }
  /// Where what comes next begins: its positions go on from here, not from tokens().
  std::int64_t next() const { return next_; }

 private:
  void add(std::int64_t time, std::int64_t row, std::int64_t column);

  std::array<std::vector<std::int64_t>, 3> axes_;
  std::int64_t next_ = 0;
};

/// Rotary positions by sections: of the pairs of a head the first section[0] turn by time, the next section[1] by the
/// row, the others by the column; pair i has frequency i whatever its section (Qwen2-VL's mrope_section). Where the
/// three numbers are equal, as in text, it is rotary_table() of them. Throws Error unless the sections sum to
/// rotary_dims / 2.
RotaryTable rotary_table(const RopeConfig& config, const std::array<std::int64_t, 3>& section,
                         const SpaceTimePositions& positions);

}  // namespace attune
