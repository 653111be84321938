#pragma once

#include <span>

#include "attune/base/file.h"
#include "attune/train/trainer.h"

namespace attune {

/// Writes a run's figures as TensorBoard reads them: an event file (TFRecord: length, masked CRC-32C, bytes, masked
/// CRC-32C; each record an Event message with simple_value summaries, tensorflow/core/util/event.proto). Tags:
/// train/loss, train/learning_rate, train/grad_norm, train/tokens_per_second, evaluation/<metric>. Times are those of
/// the steps, from 0.
void write_tensorboard(const Path& directory, const TrainingResult& result);

/// CRC-32C (Castagnoli) of bytes, RFC 3720 appendix B.4.
std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace attune
