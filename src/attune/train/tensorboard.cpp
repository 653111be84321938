#include "attune/train/tensorboard.h"

#include <array>
#include <cstring>

namespace attune {

namespace {

/// Protocol buffers' wire format: tag, then a varint, 8 or 4 little-endian bytes, or length and bytes.
struct Message {
  std::string bytes;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }
  template <class T>
  void fixed(int field, int wire_type, T value) {
    varint(static_cast<std::uint64_t>(field << 3 | wire_type));
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  void number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field << 3));
    varint(static_cast<std::uint64_t>(value));
  }
  void part(int field, const std::string& inside) {
    varint(static_cast<std::uint64_t>(field << 3 | 2));
    varint(inside.size());
    bytes += inside;
  }
};

std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = crc32c(std::as_bytes(std::span(bytes.data(), bytes.size())));
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <class T>
std::string little_endian(T value) {
  std::string raw(sizeof(T), '\0');
  std::memcpy(raw.data(), &value, sizeof(T));
  return raw;
}

void append_record(std::string& file, const std::string& event) {
  std::string length = little_endian(static_cast<std::uint64_t>(event.size()));
  file += length + little_endian(masked_crc(length)) + event + little_endian(masked_crc(event));
}

Message event_at(double seconds, std::int64_t step) {
  Message event;
  event.fixed(1, 1, seconds);  // wall_time
  event.number(2, step);
  return event;
}

/// Event.summary (5) of values (1), each with its tag (1) and simple_value (2).
std::string scalars(double seconds, std::int64_t step, const Metrics& values) {
  Message summary;
  for (const auto& [tag, value] : values) {
    Message one;
    one.part(1, tag);
    one.fixed(2, 5, static_cast<float>(value));
    summary.part(1, one.bytes);
  }
  Message event = event_at(seconds, step);
  event.part(5, summary.bytes);
  return event.bytes;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (std::byte b : bytes) crc = table[(crc ^ static_cast<std::uint32_t>(b)) & 0xff] ^ crc >> 8;
  return ~crc;
}

void write_tensorboard(const Path& directory, const TrainingResult& result) {
  make_directories(directory);
  std::string file;
  Message version = event_at(0, 0);
  version.part(3, "brain.Event:2");  // file_version: the first record of every event file
  append_record(file, version.bytes);
  double seconds = 0;
  std::size_t evaluation = 0;
  for (const StepRecord& step : result.history) {
    if (step.tokens_per_second > 0) seconds += static_cast<double>(step.tokens) / step.tokens_per_second;
    append_record(file, scalars(seconds, step.step,
                                {{"train/loss", step.loss},
                                 {"train/learning_rate", step.learning_rate},
                                 {"train/grad_norm", step.gradient_norm},
                                 {"train/tokens_per_second", step.tokens_per_second}}));
    for (; evaluation < result.evaluations.size() && result.evaluations[evaluation].step <= step.step; ++evaluation) {
      Metrics values;
      for (const auto& [name, value] : result.evaluations[evaluation].metrics)
        values.emplace_back("evaluation/" + name, value);
      append_record(file, scalars(seconds, result.evaluations[evaluation].step, values));
    }
  }
  write_file_atomically(directory / "events.out.tfevents.0.attune", file);
}

}  // namespace attune
