#include "attune/data/split_files.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"

namespace attune {
namespace {

class SplitFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attune-split-XXXXXX").string();
    directory = mkdtemp(name.data());
    std::string lines;
    for (int i = 0; i < 60; ++i)
      lines += R"({"id":"d)" + std::to_string(i) + R"(","text":")" + word(i) + " " + word(i + 100) + R"(","label":)" +
               (i % 10 == 9 ? "null"
                : i % 2     ? "\"odd\""
                            : "\"even\"") +
               R"(,"patient":)" + std::to_string(i / 2) + R"(,"source":"s)" +
               std::to_string(i % 20 < 16 ? 0 : i % 20 / 2) + "\"}\n";
    write_file_atomically(directory / "d.jsonl", lines);
    documents = read_documents(directory / "d.jsonl");
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  static std::string word(int i) { return "word" + std::to_string(i); }

  Path directory;
  Documents documents;
};

TEST_F(SplitFiles, PartsAndManifestSayTheSame) {
  SplitOptions options{.group_fields = {"patient"}, .hold_out = {"source"}};
  Split split = split_documents(documents.items, options);
  Path output = directory / "deep" / "split";
  write_split(output, documents, split, options);
  Json manifest = read_json(output / manifest_name);
  std::size_t written = 0;
  for (Part part : written_parts) {
    Documents read = read_documents(output / file_name_of(part), {.labels = Labels::nullable});
    std::vector<std::int64_t> members = split.of(part);
    ASSERT_EQ(read.items.size(), members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Document& original = documents.items[static_cast<std::size_t>(members[i])];
      EXPECT_EQ(to_json_line(read.items[i], {.labels = Labels::nullable}),
                to_json_line(original, {.labels = Labels::nullable}));
    }
    const Json& entry = manifest["parts"][std::string(name_of(part))];
    EXPECT_EQ(entry["documents"], members.size());
    EXPECT_EQ(entry["sha256"], sha256_of_file(output / file_name_of(part)));
    std::size_t labelled = 0;
    for (const auto& [label, count] : entry["labels"].items()) labelled += count.get<std::size_t>();
    EXPECT_EQ(labelled + entry["without_label"].get<std::size_t>(), members.size());
    written += members.size();
  }
  EXPECT_EQ(manifest["parts"]["train"]["without_label"], 0);
  std::size_t dropped = 0;
  for (const Json& reason : manifest["dropped"]) {
    EXPECT_EQ(reason["documents"], reason["ids"].size());
    dropped += reason["documents"].get<std::size_t>();
  }
  EXPECT_EQ(written + dropped, documents.items.size());
  EXPECT_EQ(manifest["data"]["sha256"], sha256_of_file(directory / "d.jsonl"));
  EXPECT_EQ(manifest["leaks"]["clean"], true);
  EXPECT_EQ(manifest["options"]["hold_out"][0], "source");
  EXPECT_FALSE(manifest["held_out"]["source"].empty());
}

TEST_F(SplitFiles, WritingAgainGivesTheSameBytesAndKeepsOtherFiles) {
  SplitOptions held{.group_fields = {"patient"}, .hold_out = {"source"}}, plain{.group_fields = {"patient"}};
  Path output = directory / "split";
  write_split(output, documents, split_documents(documents.items, plain), plain);
  std::string manifest = read_file(output / manifest_name);
  write_file_atomically(output / "mine.txt", "kept");
  write_split(output, documents, split_documents(documents.items, held), held);
  EXPECT_TRUE(std::filesystem::exists(output / "unfamiliar.jsonl"));
  write_split(output, documents, split_documents(documents.items, plain), plain);
  EXPECT_FALSE(std::filesystem::exists(output / "unfamiliar.jsonl"))
      << "an earlier split's part was left beside the new one";
  EXPECT_EQ(read_file(output / manifest_name), manifest);
  EXPECT_EQ(read_file(output / "mine.txt"), "kept");
}

TEST_F(SplitFiles, AnOutputThatIsNoDirectoryIsNamed) {
  SplitOptions options{.group_fields = {"patient"}};
  Split split = split_documents(documents.items, options);
  EXPECT_THROW(write_split(directory / "d.jsonl", documents, split, options), Error);
  EXPECT_THROW(write_split(directory / "d.jsonl" / "below", documents, split, options), Error);
  EXPECT_EQ(documents.items.size(), read_documents(directory / "d.jsonl").items.size()) << "the input was damaged";
}

}  // namespace
}  // namespace attune
