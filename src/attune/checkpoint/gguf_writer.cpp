#include <fmt/core.h>

#include <bit>
#include <set>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/checkpoint/gguf.h"
#include "attune/tensor/convert.h"

namespace attune {

namespace {

using Type = GgufValue::Type;

constexpr std::size_t longest_name = 63;
constexpr int most_dimensions = 4;

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void append_text(std::string& to, const std::string& text) {
  append<std::uint64_t>(to, text.size());
  to += text;
}

/// The value without its type: that of an array's elements stands once, before them.
void append_value(std::string& to, const GgufValue& value) {
  if (value.type() == Type::text) return append_text(to, value.text());
  if (!value.is_array()) {
    to += value.bytes();
    return;
  }
  append(to, static_cast<std::uint32_t>(value.element()));
  append<std::uint64_t>(to, value.size());
  if (value.element() == Type::text)
    for (const std::string& text : value.texts()) append_text(to, text);
  else if (value.element() == Type::array)
    for (const GgufValue& array : value.arrays()) append_value(to, array);
  else
    to += value.bytes();
}

std::uint64_t byte_count(const GgufTensor& tensor, const GgufType& type) {
  const std::int64_t width = tensor.shape.rank() == 0 ? 1 : tensor.shape[-1];
  check(width % type.block_values == 0, "its rows of {} values are no whole number of {}'s blocks of {}", width,
        type.name, type.block_values);
  return static_cast<std::uint64_t>(tensor.shape.numel() / type.block_values * type.block_bytes);
}

std::uint64_t padding(std::uint64_t size, std::uint64_t alignment) {
  return (alignment - size % alignment) % alignment;
}

std::uint64_t alignment_of(const GgufMetadata& metadata) {
  const std::int64_t alignment = metadata.integer("general.alignment").value_or(32);
  check(alignment > 0 && std::has_single_bit(static_cast<std::uint64_t>(alignment)),
        "\"general.alignment\" is {}: expected a power of 2", alignment);
  return static_cast<std::uint64_t>(alignment);
}

std::string header_text(const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors, std::uint64_t alignment) {
  std::string text = "GGUF";
  append<std::uint32_t>(text, 3);
  append<std::uint64_t>(text, tensors.size());
  append<std::uint64_t>(text, metadata.entries().size());
  for (const auto& [key, value] : metadata.entries()) {
    append_text(text, key);
    append(text, static_cast<std::uint32_t>(value.type()));
    append_value(text, value);
  }
  std::set<std::string_view> seen;
  std::uint64_t offset = 0;
  for (const GgufTensor& tensor : tensors)
    within("tensor " + json_quoted(tensor.name), [&] {
      check(seen.insert(tensor.name).second, "the name is given to two tensors");
      check(tensor.name.size() <= longest_name, "its name has {} bytes: at most {} are read back", tensor.name.size(),
            longest_name);
      check(tensor.shape.rank() <= most_dimensions, "it has {} dimensions: at most {} are allowed", tensor.shape.rank(),
            most_dimensions);
      const GgufType* type = gguf_type_of(tensor.format);
      check(type != nullptr, "GGUF has no type for u8");
      append_text(text, tensor.name);
      append(text, static_cast<std::uint32_t>(tensor.shape.rank()));
      for (int i = tensor.shape.rank() - 1; i >= 0; --i) append(text, static_cast<std::uint64_t>(tensor.shape[i]));
      append(text, type->number);
      append(text, offset);
      offset += byte_count(tensor, *type);
      offset += padding(offset, alignment);
    });
  text.append(static_cast<std::size_t>(padding(text.size(), alignment)), '\0');
  return text;
}

void write_values(AtomicFile& file, const GgufTensor& tensor) {
  const GgufValues values = tensor.values();
  if (const auto* plain = std::get_if<Tensor>(&values)) {
    check(tensor.format == GgufFormat(plain->dtype()) && tensor.shape == plain->shape(),
          "its values are not of the format and shape that was said");
    const Tensor whole = plain->contiguous();
    with_type(whole.dtype(), [&]<class T>() { file.write(std::as_bytes(whole.values<T>())); });
    return;
  }
  const auto& blocks = std::get<QuantisedTensor>(values);
  check(tensor.format == GgufFormat(blocks.format()) && tensor.shape == blocks.shape(),
        "its blocks are not of the format and shape that was said");
  file.write(blocks.bytes());
}

}  // namespace

void write_gguf(const Path& path, const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors) {
  const std::string doing = "writing " + path.string();
  const auto alignment = within(doing, [&] { return alignment_of(metadata); });
  const std::string header = within(doing, [&] { return header_text(metadata, tensors, alignment); });
  AtomicFile file(path);  // names the file in its errors itself
  file.write(header);
  for (const GgufTensor& tensor : tensors) {
    within(doing + ": tensor " + json_quoted(tensor.name), [&] { write_values(file, tensor); });
    const std::uint64_t bytes = byte_count(tensor, *gguf_type_of(tensor.format));
    file.write(std::string(static_cast<std::size_t>(padding(bytes, alignment)), '\0'));
  }
  file.commit();
}

}  // namespace attune
