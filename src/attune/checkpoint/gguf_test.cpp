#include "attune/checkpoint/gguf.h"

#include <gtest/gtest.h>

#include <cstring>

#include "attune/base/error.h"

namespace attune {
namespace {

const Path golden = Path(ATTUNE_GOLDEN_DIR) / "gguf";

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "attune-gguf-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  Path path;
};

/// Bytes of a file, written number by number as the format has them.
struct Bytes {
  std::string text;

  template <class T>
  Bytes& put(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Bytes& u32(std::uint32_t value) { return put(value); }
  Bytes& u64(std::uint64_t value) { return put(value); }
  Bytes& name(const std::string& value) {
    u64(value.size()).text += value;
    return *this;
  }
  Bytes& zeros(std::size_t count) {
    text.append(count, '\0');
    return *this;
  }
  /// Zeros up to a multiple of 32, then so many bytes of tensors.
  std::string with_data(std::size_t count) { return zeros((32 - text.size() % 32) % 32).zeros(count).text; }
};

Bytes header(std::uint64_t tensors, std::uint64_t entries, std::uint32_t version = 3) {
  Bytes bytes{"GGUF"};
  return bytes.u32(version).u64(tensors).u64(entries);
}

/// What the header says of one tensor.
Bytes& info(Bytes& to, const std::string& name, std::vector<std::uint64_t> sizes, std::uint32_t type,
            std::uint64_t offset) {
  to.name(name).u32(static_cast<std::uint32_t>(sizes.size()));
  for (std::uint64_t size : sizes) to.u64(size);
  return to.u32(type).u64(offset);
}

GgufHeader parse(const std::string& file) {
  return parse_gguf_header(std::as_bytes(std::span(file.data(), file.size())), "x.gguf");
}

/// The message of the Error that the file is refused with; fails the test where it is read.
std::string refusal(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("reading x.gguf: ")) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "read without an error";
  return "";
}

void expect_refused(const std::string& file, const std::string& because) {
  const std::string message = refusal(file);
  EXPECT_NE(message.find(because), std::string::npos) << message;
}

TEST(Gguf, EveryValueOfThePythonPackageIsRead) {
  GgufFile file = GgufFile::open(golden / "all_types.gguf");
  const GgufMetadata& m = file.metadata();
  EXPECT_EQ(m.text("general.architecture"), "none");
  EXPECT_EQ(m.integer("t.u8"), 200);
  EXPECT_EQ(m.integer("t.i8"), -100);
  EXPECT_EQ(m.integer("t.u16"), 60'000);
  EXPECT_EQ(m.integer("t.i16"), -30'000);
  EXPECT_EQ(m.integer("t.u32"), 4'000'000'000);
  EXPECT_EQ(m.integer("t.i32"), -2'000'000'000);
  EXPECT_EQ(m.integer("t.u64"), 9'000'000'000'000'000'000);
  EXPECT_EQ(m.integer("t.i64"), -9'000'000'000'000'000'000);
  EXPECT_EQ(m.number("t.f32"), static_cast<double>(1e-5f));
  EXPECT_EQ(m.decimal("t.f32"), 1e-5);
  EXPECT_EQ(m.number("t.f64"), 1e-300);
  EXPECT_EQ(m.boolean("t.yes"), true);
  EXPECT_EQ(m.boolean("t.no"), false);
  EXPECT_EQ(m.text("t.text"), "größe ✓\n");
  EXPECT_EQ(m.texts("t.texts"), (std::vector<std::string>{"", "a", "▁b"}));
  EXPECT_EQ(m.integers("t.i32s"), (std::vector<std::int64_t>{-1, 0, 70'000}));
  EXPECT_EQ(m.numbers("t.f32s"), (std::vector<double>{0.5, -2}));
  ASSERT_NE(m.find("t.nested"), nullptr);
  EXPECT_EQ(m.find("t.nested")->arrays().at(1).integer(1), 4);
  EXPECT_EQ(m.integer("absent"), std::nullopt);
  EXPECT_THROW(m.integer("t.text"), Error);
  EXPECT_THROW(m.text("t.u8"), Error);
  EXPECT_THROW(m.texts("t.i32s"), Error);
  EXPECT_THROW(m.integer("t.f32"), Error);
}

TEST(Gguf, EveryPlainTypeOfThePythonPackageIsRead) {
  GgufFile file = GgufFile::open(golden / "all_types.gguf");
  EXPECT_EQ(file.tensor("f32").shape(), (Shape{3, 2}));
  EXPECT_EQ(file.tensor("f32").to_vector<float>(), (std::vector<float>{0, .5f, 1, 1.5f, 2, 2.5f}));
  EXPECT_EQ(file.tensor("f16").dtype(), DType::F16);
  EXPECT_EQ(file.tensor("f16").to(DType::F32).to_vector<float>(), (std::vector<float>{0, .25f, .5f}));
  EXPECT_EQ(file.tensor("f64").to_vector<double>(), (std::vector<double>{-2, -1, 0}));
  EXPECT_EQ(file.tensor("i8").to_vector<std::int8_t>(), (std::vector<std::int8_t>{-3, -2, -1}));
  EXPECT_EQ(file.tensor("i16").to_vector<std::int32_t>(), (std::vector<std::int32_t>{-30'000, -29'999, -29'998}));
  EXPECT_EQ(file.tensor("i32").to_vector<std::int32_t>(), (std::vector<std::int32_t>{-100'000, -99'999, -99'998}));
  EXPECT_EQ(file.tensor("i64").to_vector<std::int64_t>()[2], 2'000'000'014);
  EXPECT_EQ(file.tensor("bf16").dtype(), DType::BF16);
  EXPECT_EQ(file.find("q4_k")->type_name(), "Q4_K");
  EXPECT_EQ(file.quantised("q4_k").shape(), (Shape{2, 256}));
  EXPECT_EQ(file.quantised("q8_0").format(), QuantisedFormat::Q8_0);
  EXPECT_THROW(file.tensor("q8_0"), Error);
  EXPECT_THROW(file.quantised("f32"), Error);
}

TEST(Gguf, TypesThatAreNotReadAreListedAndRefusedWhenAsked) {
  GgufFile file = GgufFile::open(golden / "all_types.gguf");
  ASSERT_NE(file.find("tq1_0"), nullptr);
  EXPECT_EQ(file.find("tq1_0")->type_name(), "TQ1_0");
  for (auto ask : {+[](const GgufFile& f) { f.tensor("tq1_0"); }, +[](const GgufFile& f) { f.quantised("tq1_0"); }}) {
    try {
      ask(file);
      ADD_FAILURE() << "read without an error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("TQ1_0, whose values are not read"), std::string::npos) << error.what();
    }
  }
  Bytes unknown = header(2, 0);
  info(unknown, "new", {4}, 1000, 0);
  info(unknown, "f", {2}, 0, 64);
  const GgufHeader read = parse(unknown.with_data(72));
  EXPECT_EQ(read.tensors.at(0).type_name(), "type 1000");
  EXPECT_EQ(read.tensors.at(0).end, read.tensors.at(1).begin);
}

TEST(Gguf, ViewsOutliveTheFile) {
  Tensor kept;
  QuantisedTensor blocks;
  {
    GgufFile file = GgufFile::open(golden / "all_types.gguf");
    kept = file.tensor("f32");
    blocks = file.quantised("q8_0");
    EXPECT_EQ(kept.data<float>(), file.tensor("f32").data<float>());
    file.drop_pages("f32");
  }
  EXPECT_EQ(kept.to_vector<float>()[5], 2.5f);
  EXPECT_EQ(blocks.byte_count(), 2 * 34);
  EXPECT_THROW(kept.mutable_data<float>(), Error);
}

/// Everything of a file, to write it again.
std::vector<GgufTensor> tensors_of(const GgufFile& file) {
  std::vector<GgufTensor> tensors;
  for (const GgufTensorInfo& one : file.tensors()) {
    const GgufType* type = gguf_type(one.type);
    if (!type->format) continue;
    tensors.push_back(
        {one.name, *type->format, one.shape, [&file, name = one.name, format = *type->format]() -> GgufValues {
           if (std::holds_alternative<DType>(format)) return file.tensor(name);
           return file.quantised(name);
         }});
  }
  return tensors;
}

TEST(Gguf, WritesTheBytesThatThePythonPackageWrites) {
  GgufFile file = GgufFile::open(golden / "writable.gguf");
  TemporaryDirectory directory;
  write_gguf(directory.path / "out.gguf", file.metadata(), tensors_of(file));
  EXPECT_EQ(read_file(directory.path / "out.gguf"), read_file(golden / "writable.gguf"));
}

TEST(Gguf, WhatIsWrittenIsRead) {
  TemporaryDirectory directory;
  GgufMetadata metadata;
  metadata.set("general.alignment", GgufValue::u32(64));
  metadata.set("b", GgufValue::booleans({true, false, true}));
  metadata.set("a", GgufValue::arrays({GgufValue::i32s({1, 2}), GgufValue::texts({"x"})}));
  Tensor x = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  write_gguf(directory.path / "x.gguf", metadata,
             {{"turned", DType::F32, {3, 2}, [&] { return x.transposed(0, 1); }},
              {"x", DType::F32, {2, 3}, [&] { return x; }}});
  GgufFile file = GgufFile::open(directory.path / "x.gguf");
  EXPECT_EQ(file.tensor("turned").to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(file.find("x")->begin % 64, 0);
  EXPECT_TRUE(file.metadata().find("b")->flag(2));
  EXPECT_EQ(file.metadata().find("a")->arrays().at(1).texts().at(0), "x");
}

TEST(Gguf, WhatCannotBeReadBackIsNotWritten) {
  TemporaryDirectory directory;
  const Path path = directory.path / "x.gguf";
  Tensor x = Tensor::zeros({1});
  const auto values = [&]() -> GgufValues { return x; };
  EXPECT_THROW(write_gguf(path, {}, {{"x", DType::F32, {1}, values}, {"x", DType::F32, {1}, values}}), Error);
  EXPECT_THROW(write_gguf(path, {}, {{std::string(64, 'x'), DType::F32, {1}, values}}), Error);
  EXPECT_THROW(write_gguf(path, {}, {{"x", DType::U8, {1}, values}}), Error);
  EXPECT_THROW(write_gguf(path, {}, {{"x", DType::F32, {1, 1, 1, 1, 1}, values}}), Error);
  EXPECT_THROW(write_gguf(path, {}, {{"x", DType::F32, {2}, values}}), Error) << "other values than were said";
  EXPECT_THROW(write_gguf(path, {}, {{"x", DType::F16, {1}, values}}), Error);
  EXPECT_THROW(write_gguf(path, {}, {{"x", QuantisedFormat::Q8_0, {31}, values}}), Error);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path)) << "something half-written was left";
}

TEST(Gguf, CutAtAnyByteIsOneError) {
  const std::string whole = read_file(golden / "writable.gguf");
  const auto end = static_cast<std::size_t>(parse(whole).tensors.back().end);
  for (std::size_t length = 0; length < end; ++length) refusal(whole.substr(0, length));
}

TEST(Gguf, AnyByteOfTheHeaderMayBeWrong) {
  const std::string whole = read_file(golden / "writable.gguf");
  const auto begin = static_cast<std::size_t>(parse(whole).tensors.front().begin);
  for (std::size_t at = 0; at < begin; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        parse(damaged);  // a flip inside a name is a valid file
      } catch (const Error&) {
      }
    }
}

TEST(Gguf, OtherVersionsAreNamed) {
  std::string file = read_file(golden / "writable.gguf");
  file[4] = 2;
  EXPECT_EQ(parse(file).version, 2u);
  file[4] = 1;
  expect_refused(file, "it has version 1: versions 2 and 3 are read; convert");
  file[4] = 4;
  expect_refused(file, "it has version 4");
  file[4] = 0, file[7] = 3;
  expect_refused(file, "big-endian");
  file[0] = 'X';
  expect_refused(file, "does not begin with \"GGUF\"");
}

TEST(Gguf, LyingCountsAreNamed) {
  expect_refused(header(std::uint64_t{1} << 63, 0).text, "9223372036854775808 tensors");
  expect_refused(header(0, ~std::uint64_t{0}).text, "18446744073709551615 values of metadata");
  expect_refused(header(0, 1).u64(std::uint64_t{1} << 63).zeros(40).text,
                 "a key would be 9223372036854775808 bytes long");
  expect_refused(header(0, 1).name("k").u32(8).u64(1000).zeros(20).text, "a text would be 1000 bytes long");
  expect_refused(header(0, 1).name("k").u32(9).u32(4).u64(std::uint64_t{1} << 62).zeros(20).text,
                 "the value of \"k\": at byte 49, it says that there are 4611686018427387904 numbers");
  expect_refused(header(0, 1).name("k").u32(9).u32(8).u64(1 << 20).zeros(20).text, "1048576 texts");
  expect_refused(header(0, 1).name("k").u32(13).zeros(20).text, "the number 13, which no type has");
  expect_refused(header(0, 1).name("k").u32(7).put<char>(2).text, "a truth value is 2");
  expect_refused(header(0, 1).name("\xff").u32(7).put<char>(1).text, "UTF-8");
  expect_refused(header(0, 2).name("k").u32(7).put<char>(1).name("k").u32(7).put<char>(1).text, "\"k\" is given twice");
  expect_refused(header(0, 1).name("general.alignment").u32(4).u32(24).text, "24: expected a power of 2");
  expect_refused(header(0, 1).name("general.alignment").u32(4).u32(0).text, "0: expected a power of 2");
  expect_refused(header(0, 1).name("general.alignment").u32(8).name("32").text, "expected a whole number");
}

TEST(Gguf, ArraysInArraysAreReadToADepth) {
  Bytes bytes = header(0, 1);
  bytes.name("k").u32(9);
  for (int i = 0; i < 1000; ++i) bytes.u32(9).u64(1);
  expect_refused(bytes.text, "nested more than 8 deep");
}

TEST(Gguf, LyingTensorsAreNamed) {
  const auto one = [](std::vector<std::uint64_t> sizes, std::uint32_t type, std::uint64_t offset) {
    Bytes bytes = header(1, 0);
    return info(bytes, "t", std::move(sizes), type, offset).with_data(64);
  };
  EXPECT_EQ(parse(one({4, 4}, 0, 0)).tensors.at(0).shape, (Shape{4, 4}));
  expect_refused(one({4, 5}, 0, 0), "ends at 80 in the data, but the file has 64 bytes");
  expect_refused(one({4}, 0, 16), "no multiple of the alignment 32");
  expect_refused(one({4}, 0, std::uint64_t{1} << 63), "no file is that large");
  expect_refused(one({4}, 0, (std::uint64_t{1} << 63) - 32), "ends at 9223372036854775792");
  expect_refused(one({64}, 0, (std::uint64_t{1} << 63) - 32), "no file is that large");
  expect_refused(one({std::uint64_t{1} << 63}, 0, 0), "9223372036854775808: no file is that large");
  expect_refused(one({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0, 0), "more elements");
  expect_refused(one({std::uint64_t{1} << 58}, 0, 0), "the file has 64 bytes");
  expect_refused(one({1, 1, 1, 1, 1}, 0, 0), "5 dimensions");
  expect_refused(one({33}, 8, 0), "no whole number of Q8_0's blocks of 32");
  Bytes two = header(2, 0);
  info(two, "a", {8}, 0, 0);
  info(two, "b", {8}, 0, 0);
  expect_refused(two.with_data(64), "tensor \"b\" overlaps tensor \"a\"");
  Bytes twice = header(2, 0);
  info(twice, "a", {8}, 0, 0);
  info(twice, "a", {8}, 0, 32);
  expect_refused(twice.with_data(64), "\"a\" is given to two tensors");
}

TEST(Gguf, EmptyTensorsOfAFileThatEndsBeforeTheAlignmentStandAtItsEnd) {
  Bytes bytes = header(1, 0);
  const std::string file = info(bytes, "empty", {0}, 0, 0).text;
  ASSERT_NE(file.size() % 32, 0u);
  const GgufHeader read = parse(file);
  EXPECT_EQ(read.tensors.at(0).begin, static_cast<std::int64_t>(file.size()));
  EXPECT_EQ(read.tensors.at(0).end, read.tensors.at(0).begin);
}

}  // namespace
}  // namespace attune
