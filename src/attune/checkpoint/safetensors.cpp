#include "attune/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/checkpoint/weight_writer.h"
#include "attune/tensor/convert.h"
#include "attune/tensor/storage.h"

namespace attune {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian and mapped as they are");

namespace {

constexpr std::int64_t length_bytes = 8;
/// The safetensors library's own limit: a longer header is a wrong or hostile file.
constexpr std::uint64_t longest_header = 100'000'000;
constexpr std::string_view metadata_name = "__metadata__";

struct TypeName {
  std::string_view name;
  DType type;
};
/// In the order in which the safetensors library sorts them into a file: its own list, from the widest down.
constexpr std::array<TypeName, 8> written_types = {{{"I64", DType::I64},
                                                    {"F64", DType::F64},
                                                    {"F32", DType::F32},
                                                    {"I32", DType::I32},
                                                    {"BF16", DType::BF16},
                                                    {"F16", DType::F16},
                                                    {"I8", DType::I8},
                                                    {"U8", DType::U8}}};

std::optional<DType> type_named(std::string_view name) {
  if (name == "BOOL") return DType::U8;
  for (const TypeName& one : written_types)
    if (one.name == name) return one.type;
  return std::nullopt;
}

std::size_t type_rank(DType type) {
  return static_cast<std::size_t>(std::ranges::find(written_types, type, &TypeName::type) - written_types.begin());
}

/// A whole number that fits 63 bits.
std::int64_t count_of(const Json& value, std::string_view what) {
  check(value.is_number_unsigned(), "{} is {}: expected a whole number that is not negative", what, value.dump());
  auto count = value.get<std::uint64_t>();
  check(count <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
        "{} is {}: no file is that large", what, count);
  return static_cast<std::int64_t>(count);
}

const Json& member(const Json& object, const char* key) {
  auto found = object.find(key);
  check(found != object.end(), "it has no \"{}\"", key);
  return *found;
}

Shape shape_of(const Json& value) {
  check(value.is_array(), "\"shape\" is not an array");
  check(value.size() <= static_cast<std::size_t>(Shape::max_rank), "\"shape\" has {} dimensions: at most {} are read",
        value.size(), Shape::max_rank);
  std::vector<std::int64_t> sizes;
  for (const Json& size : value) sizes.push_back(count_of(size, "a size in \"shape\""));
  return Shape(std::span<const std::int64_t>(sizes));
}

/// `data` is where the tensors' bytes begin in the file, `available` how many there are.
TensorInfo tensor_info(const std::string& name, const Json& entry, std::int64_t data, std::int64_t available) {
  check(entry.is_object(), "its entry is not an object");
  TensorInfo info;
  info.name = name;
  const Json& type = member(entry, "dtype");
  check(type.is_string(), "\"dtype\" is not a string");
  auto known = type_named(type.get_ref<const std::string&>());
  check(known.has_value(), "\"dtype\" is {}: expected one of F64, F32, F16, BF16, I64, I32, I8, U8, BOOL", type.dump());
  info.type = *known;
  info.shape = shape_of(member(entry, "shape"));
  const Json& offsets = member(entry, "data_offsets");
  check(offsets.is_array() && offsets.size() == 2, "\"data_offsets\" is not a pair");
  std::int64_t begin = count_of(offsets[0], "\"data_offsets\"[0]"), end = count_of(offsets[1], "\"data_offsets\"[1]");
  check(begin <= end, "\"data_offsets\" end at {}, before they begin at {}", end, begin);
  check(end <= available, "\"data_offsets\" end at {}, but the file has {} bytes of tensors: it is cut or damaged", end,
        available);
  // numel() is at most 2^59 (Shape's own limit), so the product cannot overflow.
  std::int64_t needed = info.shape.numel() * static_cast<std::int64_t>(size_of(info.type));
  check(end - begin == needed, "\"data_offsets\" span {} bytes, but shape {} of {} needs {}", end - begin, info.shape,
        type.get_ref<const std::string&>(), needed);
  for (const auto& [key, value] : entry.items())
    check(key == "dtype" || key == "shape" || key == "data_offsets", "it has an unknown member {}", json_quoted(key));
  info.begin = data + begin;
  info.end = data + end;
  return info;
}

Metadata metadata_of(const Json& value) {
  check(value.is_object(), "\"{}\" is not an object", metadata_name);
  Metadata metadata;
  for (const auto& [key, text] : value.items()) {
    check(text.is_string(), "\"{}\" has a value that is not a string at {}", metadata_name, json_quoted(key));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

/// The tensors, sorted by their bytes, must be the whole rest of the file.
void check_layout(const std::vector<TensorInfo>& tensors, std::int64_t data, std::int64_t size) {
  std::int64_t at = data;
  const TensorInfo* before = nullptr;
  for (const TensorInfo& one : tensors) {
    check(one.begin >= at, "tensor {} overlaps tensor {}", json_quoted(one.name),
          before ? json_quoted(before->name) : "");
    check(one.begin == at, "there are {} bytes that no tensor owns before tensor {}", one.begin - at,
          json_quoted(one.name));
    at = one.end;
    before = &one;
  }
  check(at == size, "there are {} bytes behind the last tensor: the file is damaged or its header is another file's",
        size - at);
}

SafetensorsHeader parse(std::span<const std::byte> file) {
  auto size = static_cast<std::int64_t>(file.size());
  check(size >= length_bytes, "the file has {} bytes: a safetensors file has at least 8", size);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  check(length <= longest_header,
        "its header would be {} bytes long, the most is {}: this is not a safetensors file, or it is damaged", length,
        longest_header);
  check(static_cast<std::int64_t>(length) <= size - length_bytes,
        "its header would be {} bytes long, but only {} bytes follow: the file is cut", length, size - length_bytes);
  std::string_view text(reinterpret_cast<const char*>(file.data()) + length_bytes, length);
  check(text.starts_with('{'), "its header does not begin with \"{{\": this is not a safetensors file");
  Json json = parse_json(text, "its header");
  check(json.is_object(), "its header is not a JSON object");

  SafetensorsHeader header;
  std::int64_t data = length_bytes + static_cast<std::int64_t>(length);
  for (const auto& [name, entry] : json.items()) {
    if (name == metadata_name)
      header.metadata = metadata_of(entry);
    else
      header.tensors.push_back(within("tensor " + json_quoted(name), [&, &name = name, &entry = entry] {
        return tensor_info(name, entry, data, size - data);
      }));
  }
  std::ranges::sort(header.tensors, [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_layout(header.tensors, data, size);
  return header;
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& source) {
  return within("reading " + source, [&] { return parse(file); });
}

SafetensorsFile SafetensorsFile::open(const Path& path) {
  SafetensorsFile made;
  made.file_ = MappedFile::open(path);
  made.header_ = parse_safetensors_header(made.file_.bytes(), path.string());
  made.storage_ = storage_of(made.file_);
  for (std::size_t i = 0; i < made.header_.tensors.size(); ++i) made.by_name_[made.header_.tensors[i].name] = i;
  return made;
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &header_.tensors[found->second];
}

const TensorInfo& SafetensorsFile::at(std::string_view name) const {
  const TensorInfo* info = find(name);
  if (info) return *info;
  std::vector<std::string> names;
  for (const TensorInfo& one : header_.tensors) names.push_back(one.name);
  std::string near = nearest_name(std::string(name), names);
  fail("{} has no tensor \"{}\"{}", path().string(), name,
       near.empty() ? "" : "; the nearest name is \"" + near + "\"");
}

Tensor SafetensorsFile::tensor(std::string_view name) const {
  const TensorInfo& info = at(name);
  if (info.begin % static_cast<std::int64_t>(size_of(info.type)) == 0)
    return Tensor::over(storage_, info.begin, info.shape, info.type);
  auto bytes =
      file_.bytes().subspan(static_cast<std::size_t>(info.begin), static_cast<std::size_t>(info.end - info.begin));
  std::shared_ptr<Storage> aligned = allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(aligned->data, bytes.data(), bytes.size());
  return Tensor::over(std::move(aligned), 0, info.shape, info.type);
}

void SafetensorsFile::drop_pages(std::string_view name) const {
  const TensorInfo& info = at(name);
  file_.drop_pages(
      file_.bytes().subspan(static_cast<std::size_t>(info.begin), static_cast<std::size_t>(info.end - info.begin)));
}

namespace {

std::span<const std::byte> bytes_of(const Tensor& contiguous) {
  return with_type(contiguous.dtype(), [&]<class T>() { return std::as_bytes(contiguous.values<T>()); });
}

/// Appended behind the last member: operator[] of an ordered object would compare all the names before.
void append(Json& object, const std::string& name, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(name, std::move(value));
}

std::string header_text(const std::vector<TensorToWrite>& tensors, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) append(header, std::string(metadata_name), metadata);
  std::int64_t at = 0;
  for (const TensorToWrite& one : tensors) {
    std::int64_t end = at + one.shape.numel() * static_cast<std::int64_t>(size_of(one.type));
    std::vector<std::int64_t> sizes(one.shape.sizes().begin(), one.shape.sizes().end());
    std::string_view type = written_types[type_rank(one.type)].name;
    append(header, one.name, {{"dtype", type}, {"shape", sizes}, {"data_offsets", {at, end}}});
    at = end;
  }
  std::string text = to_text(header);
  // Spaces behind the header put the tensors' bytes on a multiple of 8, so that every view is aligned.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  check(text.size() <= longest_header, "the header would be {} bytes long, the most is {}", text.size(),
        longest_header);
  return text;
}

void check_names(const std::vector<TensorToWrite>& tensors) {
  std::set<std::string_view> seen;
  for (const TensorToWrite& one : tensors) {
    check(one.name != metadata_name, "a tensor cannot be named \"{}\"", metadata_name);
    check(seen.insert(one.name).second, "the name {} is given to two tensors", json_quoted(one.name));
  }
}

Tensor values_of(const TensorToWrite& one) {
  Tensor values = one.values().contiguous();
  check(values.dtype() == one.type && values.shape() == one.shape, "tensor {} is {} of {}, and {} of {} was announced",
        json_quoted(one.name), values.shape(), name_of(values.dtype()), one.shape, name_of(one.type));
  return values;
}

}  // namespace

std::vector<TensorToWrite> to_write(const std::vector<NamedTensor>& tensors) {
  std::vector<TensorToWrite> list;
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "writing weights: tensor {} has no contents", json_quoted(name));
    list.push_back({name, tensor.dtype(), tensor.shape(), [tensor = tensor] { return tensor; }});
  }
  return list;
}

void write_safetensors(const Path& path, std::vector<NamedTensor> tensors, const Metadata& metadata) {
  write_tensors(path, within("writing " + path.string(), [&] { return to_write(tensors); }), metadata);
}

void write_tensors(const Path& path, std::vector<TensorToWrite> tensors, const Metadata& metadata) {
  std::string header = within("writing " + path.string(), [&] {
    check_names(tensors);
    std::ranges::sort(tensors, [](const TensorToWrite& a, const TensorToWrite& b) {
      return std::pair(type_rank(a.type), std::string_view(a.name)) <
             std::pair(type_rank(b.type), std::string_view(b.name));
    });
    return header_text(tensors, metadata);
  });
  AtomicFile file(path);  // names the file in its errors itself
  std::uint64_t length = header.size();
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const TensorToWrite& one : tensors)
    file.write(bytes_of(within("writing " + path.string(), [&] { return values_of(one); })));
  file.commit();
}

}  // namespace attune
