#include "attune/nn/position/space_time.h"

#include <algorithm>
#include <limits>

#include "attune/base/error.h"

namespace attune {

namespace {

void check_video(std::int64_t frames, const GridSize& size, double step) {
  check(frames >= 0 && size.height >= 0 && size.width >= 0 && step >= 0 && step <= 1e6,
        "positions: no video of {} frames of {} x {}, {} positions apart", frames, size.height, size.width, step);
}

}  // namespace

void SpaceTimePositions::add(std::int64_t time, std::int64_t row, std::int64_t column) {
  axes_[0].push_back(time);
  axes_[1].push_back(row);
  axes_[2].push_back(column);
  next_ = std::max({next_, time + 1, row + 1, column + 1});
}

void SpaceTimePositions::text(std::int64_t tokens) {
  check(tokens >= 0, "positions: no text or sound of {} tokens", tokens);
  for (std::int64_t i = 0; i < tokens; ++i) add(next_, next_, next_);
}

void SpaceTimePositions::together(std::int64_t tokens) {
  check(tokens >= 0, "positions: no {} tokens at one position", tokens);
  const std::int64_t position = next_;
  for (std::int64_t i = 0; i < tokens; ++i) add(position, position, position);
}

void SpaceTimePositions::video(std::int64_t frames, const GridSize& size, double step) {
  video_with_sound(frames, size, step, 0, std::numeric_limits<std::int64_t>::max());
}

void SpaceTimePositions::video_with_sound(std::int64_t frames, const GridSize& size, double step,
                                          std::int64_t sound_tokens, std::int64_t chunk) {
  check_video(frames, size, step);
  check(sound_tokens >= 0 && chunk > 0, "positions: no {} tokens of sound in chunks of {} positions", sound_tokens,
        chunk);
  const std::int64_t begin = next_;
  std::int64_t frame = 0, sound = 0;
  for (std::int64_t index = 0; frame < frames || sound < sound_tokens; ++index) {
    for (; frame < frames; ++frame) {
      const auto time = static_cast<std::int64_t>(static_cast<double>(frame) * step);
      if (time / chunk > index) break;
      for (std::int64_t place = 0; place < size.places(); ++place)
        add(begin + time, begin + place / size.width, begin + place % size.width);
    }
    for (; sound < sound_tokens && sound / chunk <= index; ++sound) add(begin + sound, begin + sound, begin + sound);
  }
}

RotaryTable rotary_table(const RopeConfig& config, const std::array<std::int64_t, 3>& section,
                         const SpaceTimePositions& positions) {
  check(section[0] >= 0 && section[1] >= 0 && section[2] >= 0 &&
            2 * (section[0] + section[1] + section[2]) == config.rotary_dims,
        "rotary positions: sections of {}, {} and {} pairs do not make the {} values that turn", section[0], section[1],
        section[2], config.rotary_dims);
  const Shape shape{positions.tokens(), config.rotary_dims / 2};
  RotaryTable all{Tensor::empty(shape), Tensor::empty(shape), config.pairing};
  std::int64_t begin = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t end = begin + section[axis];
    const RotaryTable one = rotary_table(config, positions.axes()[axis], positions.next());
    copy_into(one.cos.slice(1, begin, end), all.cos.slice(1, begin, end));
    copy_into(one.sin.slice(1, begin, end), all.sin.slice(1, begin, end));
    begin = end;
  }
  return all;
}

}  // namespace attune
