#include "attune/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "attune/base/error.h"
#include "attune/checkpoint/weight_writer.h"

namespace attune {
namespace {

const Path golden = Path(ATTUNE_GOLDEN_DIR) / "checkpoint";

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "attune-checkpoint-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  Path path;
};

/// A file of this header and so many bytes of tensors; its 8 bytes of length can be made to lie.
std::string file_of(const std::string& header, std::size_t data_bytes, std::int64_t lie = 0) {
  std::uint64_t length = header.size() + static_cast<std::uint64_t>(lie);
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  file += header;
  for (std::size_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i);
  return file;
}

SafetensorsHeader parse(const std::string& file) {
  return parse_safetensors_header(std::as_bytes(std::span(file.data(), file.size())), "x.safetensors");
}

/// The message of the Error that the file is refused with; fails the test where it is read.
std::string refusal(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("reading x.safetensors: ")) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "read without an error: " << file.substr(8);
  return "";
}

void expect_refused(const std::string& header, std::size_t data_bytes, const std::string& because) {
  std::string message = refusal(file_of(header, data_bytes));
  EXPECT_NE(message.find(because), std::string::npos) << message;
}

TEST(Safetensors, EveryTypeOfThePythonLibraryIsRead) {
  SafetensorsFile file = SafetensorsFile::open(golden / "all_types.safetensors");
  EXPECT_EQ(file.metadata(), pytorch_metadata);
  EXPECT_EQ(file.tensors().size(), 11u);
  EXPECT_EQ(file.tensor("a.f64").shape(), (Shape{2, 3}));
  EXPECT_EQ(file.tensor("a.f64").to_vector<double>(), (std::vector<double>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(file.tensor("b.f32").shape(), (Shape{3, 2}));
  EXPECT_EQ(file.tensor("b.f32").to_vector<float>(), (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f}));
  EXPECT_EQ(file.tensor("c.f16").dtype(), DType::F16);
  EXPECT_EQ(file.tensor("c.f16").to(DType::F32).to_vector<float>(), (std::vector<float>{0, .25f, .5f, .75f, 1, 1.25f}));
  EXPECT_EQ(file.tensor("d.bf16").to(DType::F32).to_vector<float>(), (std::vector<float>{-3, -2, -1, 0, 1, 2}));
  EXPECT_EQ(file.tensor("e.i64").to_vector<std::int64_t>()[5], 5'000'000'035);
  EXPECT_EQ(file.tensor("f.i32").to_vector<std::int32_t>()[0], -100'000);
  EXPECT_EQ(file.tensor("g.i8").to_vector<std::int8_t>(), (std::vector<std::int8_t>{-3, -2, -1, 0, 1, 2}));
  EXPECT_EQ(file.tensor("h.u8").to_vector<std::uint8_t>()[5], 255);
  EXPECT_EQ(file.tensor("empty").shape(), (Shape{0, 4}));
  EXPECT_EQ(file.tensor("scalar").shape(), Shape{});
  EXPECT_EQ(file.tensor("scalar").item(), 3.5);
  EXPECT_EQ(file.tensor("größe ✓").to_vector<float>(), (std::vector<float>{1, 2}));
  SafetensorsFile mask = SafetensorsFile::open(golden / "bool.safetensors");
  EXPECT_EQ(mask.tensor("mask").to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(Safetensors, TensorsAreViewsThatOutliveTheFile) {
  Tensor kept;
  {
    SafetensorsFile file = SafetensorsFile::open(golden / "all_types.safetensors");
    kept = file.tensor("b.f32");
    EXPECT_EQ(kept.data<float>(), file.tensor("b.f32").data<float>());
    file.drop_pages("b.f32");
  }
  EXPECT_EQ(kept.to_vector<float>()[5], 2.5f);
  EXPECT_THROW(kept.mutable_data<float>(), Error);
}

TEST(Safetensors, WritesTheBytesThatThePythonLibraryWrites) {
  SafetensorsFile file = SafetensorsFile::open(golden / "all_types.safetensors");
  std::vector<NamedTensor> tensors;
  for (const TensorInfo& info : file.tensors()) tensors.push_back({info.name, file.tensor(info.name)});
  std::ranges::reverse(tensors);
  TemporaryDirectory directory;
  write_safetensors(directory.path / "out.safetensors", tensors);
  EXPECT_EQ(read_file(directory.path / "out.safetensors"), read_file(golden / "all_types.safetensors"));
}

TEST(Safetensors, StridedTensorsAreWrittenInOrder) {
  TemporaryDirectory directory;
  Tensor x = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  write_safetensors(directory.path / "x.safetensors", {{"x", x.transposed(0, 1)}}, {});
  SafetensorsFile file = SafetensorsFile::open(directory.path / "x.safetensors");
  EXPECT_TRUE(file.metadata().empty());
  EXPECT_EQ(file.tensor("x").to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(Safetensors, MisalignedTensorsAreReadAsTheyAre) {
  float value = 1.5f;
  std::string file = file_of(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("x":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
                             1);
  file.append(reinterpret_cast<const char*>(&value), 4);
  TemporaryDirectory directory;
  write_file_atomically(directory.path / "x.safetensors", file);
  EXPECT_EQ(SafetensorsFile::open(directory.path / "x.safetensors").tensor("x").item(), 1.5);
}

TEST(Safetensors, CutAtAnyByteIsOneError) {
  std::string whole = read_file(golden / "all_types.safetensors");
  ASSERT_NO_THROW(parse(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) refusal(whole.substr(0, length));
  EXPECT_NE(refusal(whole + "x").find("1 bytes behind the last tensor"), std::string::npos);
}

TEST(Safetensors, AnyByteOfTheHeaderMayBeWrong) {
  std::string whole = read_file(golden / "all_types.safetensors");
  for (std::size_t at = 0; at < 800; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        parse(damaged);  // a flip inside a name is a valid file
      } catch (const Error&) {
      }
    }
}

TEST(Safetensors, LyingHeadersAreNamed) {
  expect_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "needs 8");
  expect_refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "cut or damaged");
  expect_refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "before they begin");
  expect_refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "4 bytes that no tensor owns");
  expect_refused(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
      6, "overlaps");
  expect_refused(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      4, "overlaps");
  expect_refused(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      8, "\"a\"");
  expect_refused(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "expected one of F64");
  expect_refused(R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,1]}})", 1, "\"dtype\" is not a string");
  expect_refused(R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1, "no \"dtype\"");
  expect_refused(R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1, "not an array");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1, "not a pair");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1, "7 dimensions");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":1}})", 1, "unknown member \"more\"");
  expect_refused(R"({"a":5})", 0, "not an object");
  expect_refused(R"({"__metadata__":{"format":1}})", 0, "not a string");
  expect_refused(R"([1])", 0, "does not begin with");
  expect_refused(R"( {})", 0, "does not begin with");
  expect_refused(R"({"a")", 0, "header");
  expect_refused("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, "UTF-8");
}

TEST(Safetensors, SizesBeyondMemoryAreNamed) {
  expect_refused(R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}})", 1,
                 "9223372036854775808");
  expect_refused(R"({"a":{"dtype":"U8","shape":[9223372036854775807,2],"data_offsets":[0,1]}})", 1, "more elements");
  expect_refused(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "more elements");
  expect_refused(R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", 4, "more elements");
  expect_refused(R"({"a":{"dtype":"U8","shape":[99999999999999999999999],"data_offsets":[0,1]}})", 1, "whole number");
  expect_refused(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1, "-1");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", 1, "1.5");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551615,18446744073709551615]}})", 1,
                 "no file is that large");
  for (std::int64_t lie :
       {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1} << 40, std::int64_t{-9223372036854775807}})
    EXPECT_NE(refusal(file_of("{}", 0, lie)).find("header would be"), std::string::npos);
}

TEST(Safetensors, AbsentTensorsAreNamedWithTheNearest) {
  SafetensorsFile file = SafetensorsFile::open(golden / "all_types.safetensors");
  try {
    file.tensor("a.f46");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the nearest name is \"a.f64\""), std::string::npos) << error.what();
  }
}

TEST(Safetensors, NamesThatCannotBeReadBackAreNotWritten) {
  TemporaryDirectory directory;
  Path path = directory.path / "x.safetensors";
  Tensor x = Tensor::zeros({1});
  EXPECT_THROW(write_safetensors(path, {{"x", x}, {"x", x}}), Error);
  EXPECT_THROW(write_safetensors(path, {{"__metadata__", x}}), Error);
  EXPECT_THROW(write_safetensors(path, {{"\xff", x}}), Error);
  EXPECT_THROW(write_safetensors(path, {{"x", Tensor()}}), Error);
  EXPECT_THROW(write_safetensors(directory.path / "absent" / "x.safetensors", {{"x", x}}), Error);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path)) << "something half-written was left";
}

TEST(WeightWriter, MakesEachTensorWhenItsTurnComes) {
  const Path directory = Path(testing::TempDir()), made = directory / "made.safetensors",
             kept = directory / "kept.safetensors";
  std::vector<NamedTensor> tensors = {{"b", Tensor::from<float>({2}, std::vector<float>{1, 2})},
                                      {"a", Tensor::from<float>({1, 3}, std::vector<float>{3, 4, 5})},
                                      {"c", Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{6})}};
  std::string order;
  std::vector<TensorToWrite> lazy;
  for (const auto& [name, tensor] : tensors)
    lazy.push_back({name, tensor.dtype(), tensor.shape(), [&order, name = name, tensor = tensor] {
                      order += name;
                      return tensor;
                    }});
  write_tensors(made, lazy);
  EXPECT_EQ(order, "cab");
  write_safetensors(kept, tensors);
  EXPECT_EQ(read_file(made), read_file(kept));
  std::filesystem::remove(made);
  lazy[0].shape = {3};
  EXPECT_THROW(write_tensors(made, lazy), Error);
  EXPECT_FALSE(std::filesystem::exists(made));
}

}  // namespace
}  // namespace attune
