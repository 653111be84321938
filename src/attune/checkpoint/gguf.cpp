#include "attune/checkpoint/gguf.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/tensor/storage.h"

namespace attune {

static_assert(std::endian::native == std::endian::little, "GGUF files are little-endian and mapped as they are");

namespace {

using Type = GgufValue::Type;

constexpr int deepest_array = 8;
constexpr int most_dimensions = 4;  // ggml's own limit
constexpr std::int64_t usual_alignment = 32;
constexpr std::uint64_t least_entry = 8 + 4 + 1;     // bytes: a key's length, a type, the shortest value
constexpr std::uint64_t least_info = 8 + 4 + 4 + 8;  // a name's length, dimensions, type, offset

/// Walks over the header; nothing is read that is not there.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> file) : file_(file) {}

  std::uint64_t place() const { return at_; }
  std::uint64_t left() const { return file_.size() - at_; }

  template <class T>
  T read(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what), sizeof(T));
    return value;
  }
  std::string bytes(std::uint64_t count, const char* what) {
    const std::byte* begin = take(count, what);
    return std::string(reinterpret_cast<const char*>(begin), static_cast<std::size_t>(count));
  }
  std::string text(const char* what) {
    const auto length = read<std::uint64_t>(what);
    check(length <= left(), "at byte {}, {} would be {} bytes long, but {} are left: the file is cut or damaged", at_,
          what, length, left());
    return bytes(length, what);
  }
  /// A number of things, each of which takes at least `least` bytes.
  std::uint64_t count(std::uint64_t least, const char* what) {
    const auto number = read<std::uint64_t>(what);
    check(number <= left() / least, "at byte {}, it says that there are {} {}, but the {} bytes left cannot hold them",
          at_, number, what, left());
    return number;
  }

 private:
  const std::byte* take(std::uint64_t count, const char* what) {
    check(count <= left(), "it ends at byte {}, within {}: the file is cut", file_.size(), what);
    const std::byte* begin = file_.data() + at_;
    at_ += count;
    return begin;
  }

  std::span<const std::byte> file_;
  std::uint64_t at_ = 0;
};

Type value_type(Cursor& cursor) {
  const auto number = cursor.read<std::uint32_t>("a value's type");
  check(number <= static_cast<std::uint32_t>(Type::f64), "its type has the number {}, which no type has", number);
  return static_cast<Type>(number);
}

void check_booleans(const std::string& bytes) {
  for (char byte : bytes) check(byte == 0 || byte == 1, "a truth value is {}: expected 0 or 1", static_cast<int>(byte));
}

GgufValue read_array(Cursor& cursor, int depth) {
  check(depth <= deepest_array, "arrays are nested more than {} deep", deepest_array);
  const Type element = value_type(cursor);
  if (element == Type::text) {
    std::vector<std::string> texts(static_cast<std::size_t>(cursor.count(8, "texts")));
    for (std::string& text : texts) text = cursor.text("a text");
    return GgufValue::texts(std::move(texts));
  }
  if (element == Type::array) {
    std::vector<GgufValue> arrays(static_cast<std::size_t>(cursor.count(12, "arrays")));
    for (GgufValue& array : arrays) array = read_array(cursor, depth + 1);
    return GgufValue::arrays(std::move(arrays));
  }
  const std::uint64_t count = cursor.count(size_of(element), "numbers");
  std::string bytes = cursor.bytes(count * size_of(element), "an array");
  if (element == Type::boolean) check_booleans(bytes);
  return GgufValue::numbers(element, std::move(bytes));
}

GgufValue read_value(Cursor& cursor) {
  const Type type = value_type(cursor);
  if (type == Type::text) return GgufValue::text(cursor.text("a text"));
  if (type == Type::array) return read_array(cursor, 1);
  std::string bytes = cursor.bytes(size_of(type), "a value");
  if (type == Type::boolean) check_booleans(bytes);
  return GgufValue::number(type, std::move(bytes));
}

/// json_quoted throws where the name is not UTF-8: such a name could not be shown, nor written elsewhere.
std::string checked_name(Cursor& cursor, const char* what) {
  const std::uint64_t place = cursor.place();
  std::string name = cursor.text(what);
  within(fmt::format("at byte {}, {}", place, what), [&] { return json_quoted(name); });
  return name;
}

std::int64_t size_in_file(std::uint64_t value, const char* what) {
  check(value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
        "{} is {}: no file is that large", what, value);
  return static_cast<std::int64_t>(value);
}

/// What the header says of one tensor; `begin` counts from the beginning of the data as yet, and `end` - begin is its
/// size, or 0 where the type is not known.
GgufTensorInfo read_info(Cursor& cursor) {
  GgufTensorInfo info;
  info.name = checked_name(cursor, "a tensor's name");
  return within("tensor " + json_quoted(info.name), [&] {
    const auto dimensions = cursor.read<std::uint32_t>("a number of dimensions");
    check(dimensions <= most_dimensions, "it has {} dimensions: at most {} are allowed", dimensions, most_dimensions);
    std::vector<std::int64_t> sizes;
    for (std::uint32_t i = 0; i < dimensions; ++i)
      sizes.push_back(size_in_file(cursor.read<std::uint64_t>("a size"), "a size"));
    std::ranges::reverse(sizes);
    info.shape = Shape(std::span<const std::int64_t>(sizes));
    info.type = cursor.read<std::uint32_t>("a type");
    info.begin = size_in_file(cursor.read<std::uint64_t>("an offset"), "its offset");
    const GgufType* type = gguf_type(info.type);
    if (!type) return info;
    const std::int64_t width = sizes.empty() ? 1 : sizes.back();
    check(width % type->block_values == 0, "its rows of {} values are no whole number of {}'s blocks of {}", width,
          type->name, type->block_values);
    // numel() is at most 2^59 (Shape's own limit) and no block has more than 8 bytes a value: it cannot overflow.
    const std::int64_t bytes = info.shape.numel() / type->block_values * type->block_bytes;
    check(info.begin <= std::numeric_limits<std::int64_t>::max() - bytes, "its offset is {}: no file is that large",
          info.begin);
    info.end = info.begin + bytes;
    return info;
  });
}

std::int64_t alignment_of(const GgufMetadata& metadata) {
  const std::int64_t alignment = metadata.integer("general.alignment").value_or(usual_alignment);
  check(alignment > 0 && alignment <= (std::int64_t{1} << 31) &&
            std::has_single_bit(static_cast<std::uint64_t>(alignment)),
        "\"general.alignment\" is {}: expected a power of 2", alignment);
  return alignment;
}

std::int64_t round_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Places the tensors in the file, whose data begin at `data`, and checks that each has bytes of its own.
void lay_out(std::vector<GgufTensorInfo>& tensors, std::int64_t data, std::int64_t alignment, std::int64_t size) {
  std::ranges::sort(tensors, [](const GgufTensorInfo& a, const GgufTensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  const std::int64_t available = std::max<std::int64_t>(size - data, 0);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    GgufTensorInfo& one = tensors[i];
    check(one.begin % alignment == 0, "tensor {} begins at {} in the data, no multiple of the alignment {}",
          json_quoted(one.name), one.begin, alignment);
    const bool last = i + 1 == tensors.size();
    if (!gguf_type(one.type)) one.end = std::max(one.begin, last ? available : tensors[i + 1].begin);
    check(one.end <= available,
          "tensor {} ends at {} in the data, but the file has {} bytes of them: it is cut or damaged",
          json_quoted(one.name), one.end, available);
    check(one.begin >= at, "tensor {} overlaps tensor {}", json_quoted(one.name),
          i > 0 ? json_quoted(tensors[i - 1].name) : "");
    at = one.end;
  }
  // Without a byte of data the file may end before the alignment is reached: empty tensors then stand at its end.
  const std::int64_t first = std::min(data, size);
  for (GgufTensorInfo& one : tensors) one.begin += first, one.end += first;
}

}  // namespace

std::string GgufTensorInfo::type_name() const {
  const GgufType* known = gguf_type(type);
  return known ? std::string(known->name) : fmt::format("type {}", type);
}

GgufHeader parse_gguf_header(std::span<const std::byte> file, const std::string& source) {
  return within("reading " + source, [&] {
    Cursor cursor(file);
    check(file.size() >= 4 && std::memcmp(file.data(), "GGUF", 4) == 0,
          "it does not begin with \"GGUF\": it is another kind of file");
    cursor.bytes(4, "the first word");
    GgufHeader header;
    header.version = cursor.read<std::uint32_t>("the version");
    check((header.version & 0xFFFF) != 0,
          "its version is {:#x}: the file is big-endian, which is not read: convert it with llama.cpp's "
          "gguf_convert_endian.py",
          header.version);
    check(header.version == 2 || header.version == 3, "it has version {}: versions 2 and 3 are read{}", header.version,
          header.version == 1 ? "; convert the model again with a newer llama.cpp" : "");
    const auto tensors = cursor.read<std::uint64_t>("the number of tensors");
    const std::uint64_t entries = cursor.count(least_entry, "values of metadata");
    check(tensors <= cursor.left() / least_info,
          "it says that there are {} tensors, but the {} bytes left cannot hold them", tensors, cursor.left());
    for (std::uint64_t i = 0; i < entries; ++i) {
      std::string key = checked_name(cursor, "a key");
      check(!header.metadata.find(key), "the key {} is given twice", json_quoted(key));
      GgufValue value = within("the value of " + json_quoted(key), [&] { return read_value(cursor); });
      header.metadata.set(std::move(key), std::move(value));
    }
    const std::int64_t alignment = alignment_of(header.metadata);
    std::map<std::string, int, std::less<>> seen;
    for (std::uint64_t i = 0; i < tensors; ++i) {
      header.tensors.push_back(read_info(cursor));
      const std::string& name = header.tensors.back().name;
      check(seen.emplace(name, 0).second, "the name {} is given to two tensors", json_quoted(name));
    }
    lay_out(header.tensors, round_up(static_cast<std::int64_t>(cursor.place()), alignment), alignment,
            static_cast<std::int64_t>(file.size()));
    return header;
  });
}

GgufFile GgufFile::open(const Path& path) {
  GgufFile made;
  made.file_ = MappedFile::open(path);
  made.header_ = parse_gguf_header(made.file_.bytes(), path.string());
  made.storage_ = storage_of(made.file_);
  for (std::size_t i = 0; i < made.header_.tensors.size(); ++i) made.by_name_[made.header_.tensors[i].name] = i;
  return made;
}

const GgufTensorInfo* GgufFile::find(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &header_.tensors[found->second];
}

const GgufTensorInfo& GgufFile::at(std::string_view name) const {
  const GgufTensorInfo* info = find(name);
  if (info) return *info;
  std::vector<std::string> names;
  for (const GgufTensorInfo& one : header_.tensors) names.push_back(one.name);
  const std::string near = nearest_name(std::string(name), names);
  fail("{} has no tensor \"{}\"{}", path().string(), name,
       near.empty() ? "" : "; the nearest name is \"" + near + "\"");
}

std::span<const std::byte> GgufFile::bytes_of(const GgufTensorInfo& info) const {
  return file_.bytes().subspan(static_cast<std::size_t>(info.begin), static_cast<std::size_t>(info.end - info.begin));
}

namespace {

constexpr std::uint32_t i16_number = 25;

[[noreturn]] void refuse(const Path& path, const GgufTensorInfo& info, const char* expected) {
  const GgufType* type = gguf_type(info.type);
  if (!type || (!type->format && info.type != i16_number))
    fail("{}: tensor \"{}\" is of {}, whose values are not read: convert the model to another type with llama.cpp",
         path.string(), info.name, info.type_name());
  fail("{}: tensor \"{}\" is of {}: expected {}", path.string(), info.name, type->name, expected);
}

/// The format of a tensor where it is of the kind F, else null.
template <class F>
const F* format_of(const GgufTensorInfo& info) {
  const GgufType* type = gguf_type(info.type);
  return type && type->format ? std::get_if<F>(&*type->format) : nullptr;
}

}  // namespace

Tensor GgufFile::tensor(std::string_view name) const {
  const GgufTensorInfo& info = at(name);
  const std::span<const std::byte> bytes = bytes_of(info);
  if (info.type == i16_number) {
    Tensor values = Tensor::empty(info.shape, DType::I32);
    std::int32_t* to = values.mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
      std::int16_t value;
      std::memcpy(&value, bytes.data() + 2 * i, 2);
      to[i] = value;
    }
    return values;
  }
  const DType* type = format_of<DType>(info);
  if (!type) refuse(path(), info, "a type whose values stand one by one");
  if (info.begin % static_cast<std::int64_t>(size_of(*type)) == 0)
    return Tensor::over(storage_, info.begin, info.shape, *type);
  std::shared_ptr<Storage> aligned = allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(aligned->data, bytes.data(), bytes.size());
  return Tensor::over(std::move(aligned), 0, info.shape, *type);
}

QuantisedTensor GgufFile::quantised(std::string_view name) const {
  const GgufTensorInfo& info = at(name);
  const QuantisedFormat* format = format_of<QuantisedFormat>(info);
  if (!format) refuse(path(), info, "a block-quantised type");
  return QuantisedTensor::over(storage_, info.begin, info.shape, *format);
}

void GgufFile::drop_pages(std::string_view name) const { file_.drop_pages(bytes_of(at(name))); }

}  // namespace attune
