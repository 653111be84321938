#include "attune/workflows/clinical_example/clinical_example.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "attune/base/error.h"
#include "attune/base/file.h"
#include "attune/workflows/clinical_example/compose.h"
#include "attune/workflows/clinical_example/surface.h"

namespace attune {
namespace {

const std::vector<Document>& documents() {
  static const std::vector<Document> all = clinical_documents(1);
  return all;
}

std::string bytes_of(const std::vector<Document>& documents) {
  DocumentFormat format;
  format.labels = Labels::nullable;
  std::string bytes;
  for (const Document& document : documents) bytes += to_json_line(document, format) + "\n";
  return bytes;
}

bool unfamiliar(const Document& document) { return document.fields.at("source") == "northgate"; }

std::set<std::string> values(const std::string& field, bool of_unfamiliar) {
  std::set<std::string> found;
  for (const Document& document : documents())
    if (unfamiliar(document) == of_unfamiliar) found.insert(document.fields.at(field));
  return found;
}

// A change of the corpus is a conscious act: figures that were quoted stand for these bytes.
TEST(ClinicalExample, DefaultCorpusIsTheOneThatFiguresWereQuotedFor) {
  EXPECT_EQ(sha256(bytes_of(documents())), "d98d5d782cea3bf52b1d35e71c1af4245f77d34db3ecb1e4eecdafcda38a0353");
}

TEST(ClinicalExample, SameSeedSameBytesOtherSeedOthers) {
  std::string again = bytes_of(clinical_documents(1));
  EXPECT_EQ(again, bytes_of(documents()));
  EXPECT_NE(bytes_of(clinical_documents(2)), again);
}

TEST(ClinicalExample, UnfamiliarPartSharesNoPatientTemplateOrSource) {
  for (const char* field : {"patient", "template", "source"}) {
    std::set<std::string> here = values(field, false), there = values(field, true), both;
    std::set_intersection(here.begin(), here.end(), there.begin(), there.end(), std::inserter(both, both.end()));
    EXPECT_TRUE(both.empty()) << field << " " << *both.begin();
  }
}

TEST(ClinicalExample, HasTheSourcesFamiliesPatientsAndCategoriesThatItPromises) {
  std::map<std::string, int> labels;
  std::set<std::string> families[2], kinds, patients, sources, languages, ids;
  for (const Document& d : documents()) {
    ids.insert(d.id);
    sources.insert(d.fields.at("source"));
    languages.insert(d.fields.at("language"));
    if (!d.label) {
      kinds.insert(d.fields.at("template"));
      continue;
    }
    ++labels[*d.label];
    families[unfamiliar(d)].insert(d.fields.at("template"));
    patients.insert(d.fields.at("patient"));
  }
  EXPECT_EQ(ids.size(), documents().size());
  EXPECT_EQ(sources.size(), 8u);
  EXPECT_EQ(families[0].size(), 32u);
  EXPECT_EQ(families[1].size(), 8u);
  EXPECT_EQ(patients.size(), 900u);
  EXPECT_EQ(languages, (std::set<std::string>{"en-ES", "en-GB", "en-US"}));
  EXPECT_GE(kinds.size(), 8u);
  ASSERT_EQ(labels.size(), 5u);
  for (const auto& [label, count] : labels) EXPECT_GT(count, 350) << label;
}

TEST(ClinicalExample, LengthsAreThoseOfRealFiles) {
  double sum = 0;
  int most = 0, least = 1 << 30, longer_than_512 = 0;
  for (const Document& d : documents()) {
    int tokens = clinical::rough_tokens(d.text);
    sum += tokens;
    most = std::max(most, tokens);
    least = std::min(least, tokens);
    longer_than_512 += tokens > 512;
  }
  EXPECT_NEAR(sum / static_cast<double>(documents().size()), 350, 40);
  EXPECT_GE(least, 30);
  EXPECT_LE(most, 6000);
  EXPECT_GT(most, 3000);
  EXPECT_GT(longer_than_512, 300);
}

// Names, addresses and record numbers say nothing about the category: each label's share of patients from the first
// half of the alphabet is within four standard errors of one half's share over all documents.
TEST(ClinicalExample, RecordNumbersCorrelateWithNothing) {
  std::map<std::string, std::pair<double, double>> by_label;  // first half, all
  double first = 0, all = 0;
  for (const Document& d : documents()) {
    if (!d.label) continue;
    bool half = (d.fields.at("patient").back() - '0') < 5;
    by_label[*d.label].first += half;
    by_label[*d.label].second += 1;
    first += half;
    all += 1;
  }
  for (const auto& [label, counts] : by_label)
    EXPECT_NEAR(counts.first / counts.second, first / all, 4 * 0.5 / std::sqrt(counts.second)) << label;
}

TEST(ClinicalExample, EverySharedPaperCarriesEveryCategory) {
  std::map<std::string, std::set<std::string>> labels;
  for (const Document& d : documents())
    if (d.label) labels[d.fields.at("template")].insert(*d.label);
  for (const clinical::Family& family : clinical::families())
    EXPECT_EQ(labels[std::string(family.name)].size(), family.category == clinical::Category::none ? 5u : 1u)
        << family.name;
}

TEST(ClinicalExample, SomePapersStandTwiceInTheFilesEvenUnderAnotherPatient) {
  std::map<std::string, std::set<std::string>> patients;  // by the last 200 bytes of what both copies share
  int twice = 0, misfiled = 0;
  for (const Document& d : documents()) {
    std::string core = d.text.starts_with("COPY\n") ? d.text.substr(5) : d.text;
    if (std::size_t end = core.find("\nSent again;"); end != std::string::npos) core.resize(end);
    auto [found, fresh] = patients.try_emplace(core, std::set<std::string>{d.fields.at("patient")});
    if (fresh) continue;
    ++twice;
    misfiled += found->second.insert(d.fields.at("patient")).second;
  }
  EXPECT_GE(twice, 30);
  EXPECT_GE(misfiled, 5);
}

TEST(ClinicalExample, NoProductionIsLeftUnmade) {
  for (const Document& d : documents())
    EXPECT_EQ(d.text.find_first_of("{}[]"), std::string::npos) << d.id << ": " << d.text;
}

TEST(ClinicalExample, HandChangesWordsOfTheDialectAlone) {
  RandomStream random(RandomKey{1, 0, 0});
  EXPECT_EQ(clinical::in_hand("Haemoglobin 90, HAEMORRHAGE", {clinical::Dialect::british, 0, 0}, random),
            "Haemoglobin 90, HAEMORRHAGE");
  EXPECT_EQ(clinical::in_hand("twice daily with food", {clinical::Dialect::british, 100, 0}, random), "bd w/ food");
}

TEST(ClinicalExample, WritesADirectoryThatReadsBack) {
  Path directory = Path(testing::TempDir()) / "clinical_example_written";
  write_clinical_example(directory, 1);
  for (const char* name : {"documents.jsonl", "run.toml", "rules.toml", "README.md"})
    EXPECT_TRUE(std::filesystem::exists(directory / name)) << name;
  DocumentFormat format;
  format.labels = Labels::nullable;
  Documents read = read_documents(directory / "documents.jsonl", format);
  EXPECT_EQ(bytes_of(read.items), bytes_of(documents()));
  std::filesystem::remove_all(directory);
}

TEST(ClinicalExample, LeavesADirectoryWithOtherFilesAlone) {
  Path directory = Path(testing::TempDir()) / "clinical_example_kept";
  make_directories(directory);
  write_file_atomically(directory / "thesis.txt", "three years of work");
  EXPECT_THROW(write_clinical_example(directory, 1), Error);
  EXPECT_EQ(read_file(directory / "thesis.txt"), "three years of work");
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace attune
