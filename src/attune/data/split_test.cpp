#include "attune/data/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/data/stratify.h"

namespace attune {
namespace {

/// A text that is no near duplicate of another number's.
std::string text_of(std::int64_t number) {
  RandomStream random(RandomKey{99, static_cast<std::uint64_t>(number)});
  std::string text;
  for (int i = 0; i < 30; ++i) text += "w" + std::to_string(random.below(5000)) + " ";
  return text;
}

Document document(std::int64_t number, std::map<std::string, std::string> fields = {}) {
  Document one;
  one.id = "d" + std::to_string(number);
  one.text = text_of(number);
  one.label = number % 2 ? "odd" : "even";
  one.fields = std::move(fields);
  return one;
}

/// Documents of patients, each with 1 to 7 of them, in clinics' templates and sources, with labels of unequal
/// frequency.
std::vector<Document> clinical(std::int64_t patients, std::uint64_t seed) {
  RandomStream random(RandomKey{seed});
  std::vector<Document> documents;
  for (std::int64_t patient = 0; patient < patients; ++patient)
    for (std::int64_t i = random.below(7); i >= 0; --i) {
      auto number = static_cast<std::int64_t>(documents.size());
      Document one = document(number, {{"patient", "p" + std::to_string(patient)},
                                       {"template", "t" + std::to_string(random.below(12))},
                                       {"source", "s" + std::to_string(random.below(5))}});
      std::int64_t label = random.below(20);
      one.label = label < 10 ? "discharge" : label < 15 ? "imaging" : label < 18 ? "referral" : "billing";
      documents.push_back(one);
    }
  return documents;
}

std::set<std::string> values(const std::vector<Document>& documents, const Split& split, Part part,
                             const std::string& field) {
  std::set<std::string> found;
  for (std::int64_t i : split.of(part)) {
    const auto& fields = documents[static_cast<std::size_t>(i)].fields;
    if (auto at = fields.find(field); at != fields.end()) found.insert(at->second);
  }
  return found;
}

bool share(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& value) { return b.contains(value); });
}

std::string refusal(const std::vector<Document>& documents, const SplitOptions& options) {
  try {
    split_documents(documents, options);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "split without an error";
  return "";
}

TEST(Split, SamePatientNeverOnBothSides) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    auto documents = clinical(120, seed);
    Split split = split_documents(documents, {.group_fields = {"patient"}, .seed = seed});
    for (Part one : written_parts)
      for (Part other : written_parts)
        if (one != other) {
          EXPECT_FALSE(share(values(documents, split, one, "patient"), values(documents, split, other, "patient")));
        }
    EXPECT_TRUE(split.dropped.empty());
    EXPECT_EQ(split.of(Part::train).size() + split.of(Part::validation).size() + split.of(Part::test).size(),
              documents.size());
  }
}

TEST(Split, StratifyingAloneDoesNotKeepAPatientApart) {
  auto documents = clinical(120, 1);
  Split by_label = split_documents(documents, {});
  auto train = values(documents, by_label, Part::train, "patient"),
       test = values(documents, by_label, Part::test, "patient");
  std::int64_t both = std::ranges::count_if(test, [&](const std::string& patient) { return train.contains(patient); });
  EXPECT_GT(2 * both, static_cast<std::int64_t>(test.size()))
      << "most patients of the test part are in training as well";
  LeakReport leaks = check_leaks(documents, by_label.parts, {.group_fields = {"patient"}});
  EXPECT_GE(leaks.groups, both);
  EXPECT_FALSE(leaks.clean());
  EXPECT_TRUE(check_leaks(documents, split_documents(documents, {.group_fields = {"patient"}}).parts,
                          {.group_fields = {"patient"}})
                  .clean());
}

TEST(Split, LabelsAreBalancedWithGroupsIntact) {
  auto documents = clinical(300, 3);
  Split split = split_documents(documents, {.group_fields = {"patient"}});
  const std::array<double, 3> fractions = {0.7, 0.1, 0.2};
  for (const char* label : {"discharge", "imaging", "referral", "billing"}) {
    std::array<double, 3> counts{};
    double all = 0;
    for (std::size_t i = 0; i < documents.size(); ++i)
      if (documents[i].label == label) ++counts[static_cast<std::size_t>(split.parts[i])], ++all;
    for (std::size_t p = 0; p < 3; ++p) EXPECT_NEAR(counts[p] / all, fractions[p], 0.02) << label;
  }
}

TEST(Split, SameSeedSamePartsOtherSeedOthers) {
  auto documents = clinical(60, 5);
  SplitOptions options{.group_fields = {"patient"}, .seed = 8};
  EXPECT_EQ(split_documents(documents, options).parts, split_documents(documents, options).parts);
  SplitOptions other = options;
  other.seed = 9;
  EXPECT_NE(split_documents(documents, options).parts, split_documents(documents, other).parts);
}

TEST(Split, SeveralGroupFieldsAreConnectedComponents) {
  // patient a - author 1 - patient b - author 2: one component of 4; the others are single.
  std::vector<Document> documents = {
      document(0, {{"patient", "a"}, {"author", "1"}}), document(1, {{"patient", "b"}, {"author", "1"}}),
      document(2, {{"patient", "b"}, {"author", "2"}}), document(3, {{"patient", "c"}, {"author", "2"}})};
  for (int i = 4; i < 20; ++i) documents.push_back(document(i, {{"patient", "x" + std::to_string(i)}}));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Split split = split_documents(
        documents, {.group_fields = {"patient", "author"}, .fractions = {0.5, 0.25, 0.25}, .seed = seed});
    for (int i = 1; i < 4; ++i) EXPECT_EQ(split.parts[static_cast<std::size_t>(i)], split.parts[0]);
    EXPECT_EQ(split.groups, 17);
  }
}

TEST(Split, AGroupThatSpansEverythingProposesHoldOut) {
  auto documents = clinical(60, 2);
  std::string message = refusal(documents, {.group_fields = {"patient", "template", "source"}});
  EXPECT_NE(message.find("hang together"), std::string::npos) << message;
  EXPECT_NE(message.find("--group patient --hold-out template,source"), std::string::npos) << message;
  for (Document& one : documents) one.fields["site"] = "only";
  message = refusal(documents, {.group_fields = {"site"}});
  EXPECT_NE(message.find("more than half"), std::string::npos) << message;
  EXPECT_NE(message.find("--hold-out site"), std::string::npos) << message;
}

TEST(Split, CopiesStayOnOneSide) {
  auto documents = clinical(80, 4);
  std::size_t before = documents.size();
  for (std::size_t i = 0; i < 40; ++i) {  // a copy in another patient's record: exact, or with one word changed
    Document copy = documents[i];
    copy.fields["patient"] = "q" + std::to_string(i);
    if (i % 2) copy.text.replace(0, 1, "x");
    documents.push_back(copy);
  }
  Split split = split_documents(documents, {.group_fields = {"patient"}});
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(split.parts[i], split.parts[before + i]);
  EXPECT_GT(split.duplicate_pairs, 20);

  std::vector<Part> torn = split.parts;
  torn[before] = torn[0] == Part::train ? Part::test : Part::train;
  torn[before + 1] = torn[1] == Part::train ? Part::test : Part::train;
  LeakReport leaks = check_leaks(documents, torn, {});
  EXPECT_EQ(leaks.exact_duplicates, 1);
  EXPECT_EQ(leaks.near_duplicates, 1);
  EXPECT_NE(leaks.text().find("duplicate"), std::string::npos);
}

TEST(Split, UnfamiliarSharesNoGroupTemplateOrSource) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    auto documents = clinical(150, seed);
    SplitOptions options{.group_fields = {"patient"}, .hold_out = {"template", "source"}, .seed = seed};
    Split split = split_documents(documents, options);
    EXPECT_GE(split.of(Part::unfamiliar).size(), documents.size() / 50);
    for (const char* field : {"patient", "template", "source"}) {
      auto unfamiliar = values(documents, split, Part::unfamiliar, field);
      for (Part part : {Part::train, Part::validation, Part::test})
        EXPECT_FALSE(share(unfamiliar, values(documents, split, part, field))) << field;
    }
    std::size_t written = 0;
    for (Part part : written_parts) written += split.of(part).size();
    EXPECT_EQ(written + split.dropped.size(), documents.size()) << "each document is in a part or listed as dropped";
    for (const Dropped& one : split.dropped) EXPECT_FALSE(one.why.empty());
  }
}

/// Patients 100 to 119 are reserved: they alone have templates t90, t91, and source s9, except for `stray` documents.
std::vector<Document> reserved(int stray) {
  auto documents = clinical(100, 6);
  for (int i = 0; i < 40; ++i)
    documents.push_back(document(
        1000 + i,
        {{"patient", "r" + std::to_string(i / 2)}, {"template", "t9" + std::to_string(i % 2)}, {"source", "s9"}}));
  for (int i = 0; i < stray; ++i)
    documents.push_back(document(2000 + i, {{"patient", "r0"}, {"template", "t1"}, {"source", "s1"}}));
  for (Document& one : documents)
    if (one.label == "even" || one.label == "odd") one.label = "discharge";
  return documents;
}

TEST(Split, ReservedTemplatesAndSourcesAreFound) {
  auto documents = reserved(1);
  Split split = split_documents(documents, {.group_fields = {"patient"}, .hold_out = {"template", "source"}});
  EXPECT_EQ(split.held_out.at("source"), (std::vector<std::string>{"s9"}));
  EXPECT_EQ(split.held_out.at("template"), (std::vector<std::string>{"t90", "t91"}));
  EXPECT_EQ(split.of(Part::unfamiliar).size(), 40u);
  ASSERT_EQ(split.dropped.size(), 1u);
  EXPECT_EQ(split.dropped[0].why, "its group is unfamiliar, but its values are familiar");
}

TEST(Split, NamedValuesAreHeldOut) {
  auto documents = reserved(0);
  SplitOptions options{.group_fields = {"patient"}, .hold_out = {"source"}, .held_out_values = {{"source", {"s1"}}}};
  Split split = split_documents(documents, options);
  EXPECT_EQ(values(documents, split, Part::unfamiliar, "source"), (std::set<std::string>{"s1"}));
  EXPECT_GT(split.dropped.size(), 0u);
  options.held_out_values = {{"source", {"S9"}}};
  EXPECT_NE(refusal(documents, options).find("did you mean"), std::string::npos);
  options.hold_out = {"source", "template"};
  options.held_out_values = {{"source", {"s9"}}};
  EXPECT_NE(refusal(documents, options).find("none for this one"), std::string::npos);
  options = {.hold_out = {"source"}, .held_out_values = {{"source", {"s1"}}, {"template", {"t1"}}}};
  EXPECT_NE(refusal(documents, options).find("not among the fields"), std::string::npos);
  options = {.hold_out = {"source"}, .held_out_values = {{"source", {"s0", "s1", "s2", "s3", "s4", "s9"}}}};
  EXPECT_NE(refusal(documents, options).find("nothing would be unfamiliar"), std::string::npos);
}

TEST(Split, DocumentsOfNoCategoryAreForEvaluationAlone) {
  auto documents = clinical(100, 7);
  std::size_t before = documents.size();
  for (int i = 0; i < 30; ++i) {
    documents.push_back(document(3000 + i, {{"patient", "m" + std::to_string(i)}}));
    documents.back().label.reset();
  }
  documents[3].label.reset();  // in the record of a patient who has labelled documents too
  Split split = split_documents(documents, {.group_fields = {"patient"}});
  std::array<int, 5> counts{};
  for (std::size_t i = before; i < documents.size(); ++i) ++counts[static_cast<std::size_t>(split.parts[i])];
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1] + counts[2], 30);
  EXPECT_NEAR(counts[1], 10, 3);
  EXPECT_NE(split.parts[3], Part::train);
  for (const Dropped& one : split.dropped) EXPECT_EQ(one.why, "it has no label, and its group is in training");
  EXPECT_FALSE(check_leaks(documents, std::vector<Part>(documents.size(), Part::train), {}).clean());
}

TEST(Split, DocumentsWithoutAnyLabelsAreSplitBySize) {
  auto documents = clinical(100, 7);
  for (Document& one : documents) one.label.reset();
  Split split = split_documents(documents, {.group_fields = {"patient"}});
  auto share_of = [&](Part part) {
    return static_cast<double>(split.of(part).size()) / static_cast<double>(documents.size());
  };
  EXPECT_NEAR(share_of(Part::train), 0.7, 0.02);
  EXPECT_NEAR(share_of(Part::test), 0.2, 0.02);
}

TEST(Split, ARareLabelIsTrainedOnAndItsAbsenceElsewhereIsSaid) {
  auto documents = clinical(60, 1);
  documents[0].label = "rare";
  Split split = split_documents(documents, {});
  EXPECT_EQ(split.parts[0], Part::train);
  ASSERT_EQ(split.warnings.size(), 2u);
  EXPECT_EQ(split.warnings[0], "validation has no document labelled \"rare\"");
}

TEST(Split, OptionsThatCannotBeMetAreRefused) {
  auto documents = clinical(30, 1);
  auto expect = [&](const SplitOptions& options, const std::string& because) {
    std::string message = refusal(documents, options);
    EXPECT_NE(message.find(because), std::string::npos) << message;
  };
  expect({.group_fields = {"patent"}}, "did you mean \"patient\"");
  expect({.hold_out = {"sauce"}}, "no document has that field");
  expect({.stratify = "kind"}, "no document has the field \"kind\"");
  expect({.fractions = {0.5, 0.1, 0.1}}, "add up to 1");
  expect({.fractions = {0, 0.5, 0.5}}, "train must be above 0");
  expect({.fractions = {1.5, -0.5, 0}}, "between 0 and 1");
  expect({.group_fields = {"source"}, .hold_out = {"source"}}, "both a group and held out");
  documents.resize(2);
  expect({}, "too few");
  documents.clear();
  expect({}, "there is no document");
}

TEST(Split, StopsAtEveryStage) {
  auto documents = clinical(30, 1);
  std::vector<std::string> stages;
  attune::Run noting{.progress = [&](const Progress& now) { stages.push_back(now.detail); }, .cancel = nullptr};
  SplitOptions options{.group_fields = {"patient"}, .hold_out = {"source"}};
  split_documents(documents, options, {}, noting);
  ASSERT_EQ(stages.size(), 5u);
  stages.pop_back();  // done
  for (const std::string& stage : stages) {
    std::atomic<bool> cancel = false;
    attune::Run stopping{.progress = [&](const Progress& now) { cancel = now.detail == stage; }, .cancel = &cancel};
    EXPECT_THROW(split_documents(documents, options, {}, stopping), Cancelled) << stage;
  }
}

TEST(Split, PartsMayBeLeftOut) {
  auto documents = clinical(30, 1);
  Split split = split_documents(documents, {.group_fields = {"patient"}, .fractions = {0.8, 0, 0.2}});
  EXPECT_TRUE(split.of(Part::validation).empty());
  EXPECT_FALSE(split.of(Part::test).empty());
}

}  // namespace
}  // namespace attune
