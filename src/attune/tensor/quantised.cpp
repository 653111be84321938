#include "attune/tensor/quantised.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "attune/base/error.h"

namespace attune {

namespace {

struct FormatRow {
  QuantisedFormat format;
  std::string_view name;
  QuantisedBlock block;
};

// In the order of the enumeration.
constexpr std::array formats = {
    FormatRow{QuantisedFormat::Q4_0, "q4_0", {32, 18}},     FormatRow{QuantisedFormat::Q4_1, "q4_1", {32, 20}},
    FormatRow{QuantisedFormat::Q5_0, "q5_0", {32, 22}},     FormatRow{QuantisedFormat::Q5_1, "q5_1", {32, 24}},
    FormatRow{QuantisedFormat::Q8_0, "q8_0", {32, 34}},     FormatRow{QuantisedFormat::Q2_K, "q2_k", {256, 84}},
    FormatRow{QuantisedFormat::Q3_K, "q3_k", {256, 110}},   FormatRow{QuantisedFormat::Q4_K, "q4_k", {256, 144}},
    FormatRow{QuantisedFormat::Q5_K, "q5_k", {256, 176}},   FormatRow{QuantisedFormat::Q6_K, "q6_k", {256, 210}},
    FormatRow{QuantisedFormat::IQ4_NL, "iq4_nl", {32, 18}}, FormatRow{QuantisedFormat::IQ4_XS, "iq4_xs", {256, 136}},
};

const FormatRow& row_of(QuantisedFormat format) {
  const auto at = static_cast<std::size_t>(format);
  check(at < formats.size(), "unknown quantised format {}", at);
  return formats[at];
}

void check_shape(const Shape& shape, QuantisedFormat format) {
  const FormatRow& row = row_of(format);
  check(shape.rank() >= 1 && shape[-1] % row.block.values == 0,
        "a tensor {} cannot be kept in {}: its last dimension is no multiple of {}: keep it in q8_0, f16 or f32", shape,
        row.name, row.block.values);
}

}  // namespace

QuantisedBlock block_of(QuantisedFormat format) { return row_of(format).block; }
std::string_view name_of(QuantisedFormat format) { return row_of(format).name; }

std::optional<QuantisedFormat> quantised_format_named(std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (const FormatRow& row : formats)
    if (std::equal(name.begin(), name.end(), row.name.begin(), row.name.end(), same)) return row.format;
  return std::nullopt;
}

QuantisedTensor QuantisedTensor::empty(const Shape& shape, QuantisedFormat format) {
  check_shape(shape, format);
  QuantisedTensor made;
  made.shape_ = shape;
  made.format_ = format;
  made.storage_ = allocate(static_cast<std::size_t>(made.byte_count()));
  return made;
}

QuantisedTensor QuantisedTensor::over(std::shared_ptr<Storage> storage, std::int64_t byte_offset, const Shape& shape,
                                      QuantisedFormat format) {
  check_shape(shape, format);
  QuantisedTensor made;
  made.storage_ = std::move(storage);
  made.byte_offset_ = byte_offset;
  made.shape_ = shape;
  made.format_ = format;
  const std::uint64_t there = made.storage_ ? made.storage_->size : 0;
  const auto wanted = static_cast<std::uint64_t>(made.byte_count()), offset = static_cast<std::uint64_t>(byte_offset);
  check(byte_offset >= 0 && offset <= there && wanted <= there - offset,
        "a tensor {} {} of {} bytes from byte {} on reaches beyond its storage of {} bytes", name_of(format), shape,
        wanted, byte_offset, there);
  return made;
}

std::span<const std::byte> QuantisedTensor::bytes() const {
  check(!order_, "a tensor {} {} keeps its rows in another order", name_of(format_), shape_);
  return {data(), static_cast<std::size_t>(byte_count())};
}

std::span<std::byte> QuantisedTensor::mutable_bytes() const {
  check(!order_, "a tensor {} {} keeps its rows in another order", name_of(format_), shape_);
  check(storage_->writable, "a tensor {} {} of a mapped file cannot be written", name_of(format_), shape_);
  return {storage_->data + byte_offset_, static_cast<std::size_t>(byte_count())};
}

QuantisedTensor QuantisedTensor::in_order(std::vector<std::int64_t> order) const {
  check(!order_ && shape_.rank() == 2 && static_cast<std::int64_t>(order.size()) == shape_[0],
        "{} rows in another order are not those of a {} tensor {}", order.size(), name_of(format_), shape_);
  auto both = std::make_shared<RowOrder>();
  both->place.assign(order.size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    check(order[i] >= 0 && order[i] < shape_[0] && both->place[static_cast<std::size_t>(order[i])] < 0,
          "the order of a tensor's {} rows has the row {} twice, or not within", shape_[0], order[i]);
    both->place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  both->stored = std::move(order);
  QuantisedTensor view = *this;
  view.order_ = std::move(both);
  return view;
}

QuantisedTensor QuantisedTensor::rows(std::int64_t begin, std::int64_t end) const {
  check(!order_, "a tensor {} {} keeps its rows in another order", name_of(format_), shape_);
  check(shape_.rank() >= 2 && 0 <= begin && begin <= end && end <= shape_[0],
        "indices {} to {} are not in the first dimension of a {} tensor {}", begin, end, name_of(format_), shape_);
  std::vector<std::int64_t> sizes(shape_.sizes().begin(), shape_.sizes().end());
  QuantisedTensor part = *this;
  const std::int64_t bytes_each = shape_[0] == 0 ? 0 : byte_count() / shape_[0];
  sizes[0] = end - begin;
  part.shape_ = Shape(sizes);
  part.byte_offset_ += begin * bytes_each;
  return part;
}

QuantisedTensor QuantisedTensor::as_shape(const Shape& shape) const {
  check(!order_ && shape.rank() >= 1 && shape.numel() == shape_.numel() && shape[-1] == shape_[-1],
        "a {} tensor {} cannot be seen as {}: only its last dimension stays together", name_of(format_), shape_, shape);
  QuantisedTensor view = *this;
  view.shape_ = shape;
  return view;
}

}  // namespace attune
