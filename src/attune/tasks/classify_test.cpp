#include "attune/tasks/classify.h"

#include <gtest/gtest.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/tasks/calibrate.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune {
namespace {

/// Texts of numbered words; documents with an even number have more small numbers.
Documents some_documents(int count) {
  Documents documents;
  documents.source = "made here";
  RandomStream random(RandomKey{.seed = 5});
  for (int i = 0; i < count; ++i) {
    Document document;
    document.id = std::to_string(i);
    document.line = i + 1;
    document.label = i % 2 ? "odd" : "even";
    auto words = 3 + random.below(60);
    for (int w = 0; w < words; ++w)
      document.text += (w ? " " : "") + std::string("w") + std::to_string(random.below(i % 2 ? 40 : 15));
    documents.items.push_back(document);
  }
  return documents;
}

Tokenizer some_tokenizer(const Documents& documents) {
  TokenizerTraining training;
  training.kind = TokenizerKind::word_piece;
  training.vocab_size = 120;
  training.special_tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  training.start_token = "[CLS]";
  training.end_token = "[SEP]";
  std::size_t next = 0;
  return train_tokenizer(training,
                         [&](std::string& text) {
                           if (next == documents.items.size()) return false;
                           text = documents.items[next++].text;
                           return true;
                         },
                         {});
}

/// A classifier of two labels with random weights that reads 24 tokens at once.
Bundle some_classifier(const Documents& documents) {
  Bundle bundle;
  bundle.tokenizer = some_tokenizer(documents);
  Json config = {{"model_type", "bert"},
                 {"architectures", {"BertForSequenceClassification"}},
                 {"hidden_size", 16},
                 {"num_hidden_layers", 1},
                 {"num_attention_heads", 2},
                 {"intermediate_size", 32},
                 {"max_position_embeddings", 24},
                 {"vocab_size", bundle.tokenizer->limit()},
                 {"initializer_range", 0.3},
                 {"id2label", {{"0", "even"}, {"1", "odd"}}}};
  bundle.config = config;
  bundle.model = build_model(config, "made here", {.checkpoint = nullptr, .initial = RandomKey{.seed = 1}});
  bundle.contract.task = "classify";
  bundle.contract.labels = {"even", "odd"};
  bundle.contract.long_policy = {LongPolicy::Kind::chunk, 24};
  return bundle;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TextEncoder, EveryTokenOfALongTextIsInOneChunk) {
  Documents documents = some_documents(20);
  Bundle bundle = some_classifier(documents);
  TextEncoder encoder = text_encoder(bundle);
  for (const Document& document : documents.items) {
    Encoding whole = bundle.tokenizer->encode(document.text, {.add_special_tokens = false});
    EncodedText pieces = encoder.encode(document.text);
    std::vector<std::int64_t> joined;
    for (const auto& chunk : pieces.chunks) {
      EXPECT_LE(chunk.size(), 24U);
      joined.insert(joined.end(), chunk.begin() + 1, chunk.end() - 1);  // without [CLS] and [SEP]
    }
    EXPECT_EQ(joined, std::vector<std::int64_t>(whole.ids.begin(), whole.ids.end()));
    EXPECT_EQ(pieces.tokens, static_cast<std::int64_t>(joined.size() + 2 * pieces.chunks.size()));
  }
}

TEST(Classify, AnAnswerDoesNotDependOnTheOtherDocuments) {
  Documents documents = some_documents(30);
  Bundle bundle = some_classifier(documents);
  std::vector<std::string_view> texts = texts_of(documents);
  ScoredTexts together = score_texts(bundle, texts, {});
  for (std::size_t i = 0; i < texts.size(); i += 7) {
    ScoredTexts alone = score_texts(bundle, std::span(texts).subspan(i, 1), {});
    auto one = alone.scores.logits.row(0), among = together.scores.logits.row(static_cast<std::int64_t>(i));
    EXPECT_EQ(std::vector<double>(one.begin(), one.end()), std::vector<double>(among.begin(), among.end()));
  }
}

TEST(Classify, ATextThatIsRefusedIsNamedWithBothLengths) {
  Documents documents = some_documents(1);
  Bundle bundle = some_classifier(documents);
  std::string text;
  for (int w = 0; w < 50; ++w) text += "w1 ";
  std::vector<std::string_view> texts = {"w1", text};
  std::string error = error_of([&] { classify(bundle, texts, {}, LongPolicy::Kind::refuse); });
  EXPECT_NE(error.find("text 2"), std::string::npos) << error;
  EXPECT_NE(error.find("52 tokens"), std::string::npos) << error;
  EXPECT_NE(error.find("takes 24"), std::string::npos) << error;
}

TEST(Classify, AModelThatIsNoClassifierIsRefusedByWhatItIs) {
  Bundle bundle = some_classifier(some_documents(4));
  Json config = *bundle.config;
  config["architectures"] = {"BertForMaskedLM"};
  bundle.model = build_model(config, "made here", {.checkpoint = nullptr, .initial = RandomKey{.seed = 1}});
  bundle.path = "somewhere";
  EXPECT_EQ(error_of([&] { check_classifier(bundle); }), "somewhere is no classifier: it is a BertForMaskedLM");
}

TEST(Labels, OfAConfigThatNamesNoneAreThoseOfTransformers) {
  EXPECT_EQ(labels_of({{"num_labels", 3}}, "made here"), (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(labels_of(Json::object(), "made here").size(), 2U);
  EXPECT_EQ(labels_of({{"id2label", {{"1", "b"}, {"0", "a"}}}}, "made here"), (std::vector<std::string>{"a", "b"}));
}

TEST(Classify, WhatAnUncalibratedModelSaysGoesToReview) {
  Documents documents = some_documents(4);
  Bundle bundle = some_classifier(documents);
  for (const Classified& one : classify(bundle, texts_of(documents), {})) {
    EXPECT_FALSE(one.automatic);
    EXPECT_EQ(one.reasons, std::vector<std::string>{"not_calibrated"});
  }
}

TEST(Calibrate, WhatIsSavedDecidesAsWhatWasFitted) {
  Documents training = some_documents(60), validation = some_documents(40);
  validation.items[3].label.reset();  // of no category
  Bundle bundle = some_classifier(training);
  calibrate_bundle(bundle, {.validation = validation, .hash = "1", .training = &training},
                   {.threshold = {.target_error = 0.4}}, {});
  ASSERT_TRUE(bundle.contract.calibration && bundle.novelty);
  EXPECT_EQ(bundle.contract.calibration->uncategorised, 1);
  Path directory = std::filesystem::temp_directory_path() / ("attune_calibrate_" + std::to_string(::getpid()));
  write_directory_atomically(directory, [&](const Path& fresh) { save_bundle(bundle, fresh); });
  Bundle loaded = load_bundle(directory);
  std::filesystem::remove_all(directory);
  std::vector<Classified> fitted = classify(bundle, texts_of(validation), {}),
                          stored = classify(loaded, texts_of(validation), {});
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    EXPECT_EQ(fitted[i].confidence, stored[i].confidence);
    EXPECT_EQ(fitted[i].novelty, stored[i].novelty);
    EXPECT_EQ(fitted[i].reasons, stored[i].reasons);
  }
}

TEST(Contract, OneThatDoesNotFitItsModelIsRefused) {
  Bundle bundle = some_classifier(some_documents(4));
  Path directory = std::filesystem::temp_directory_path() / ("attune_contract_" + std::to_string(::getpid()));
  write_directory_atomically(directory, [&](const Path& fresh) { save_bundle(bundle, fresh); });
  auto error_with = [&](auto change) {
    Contract contract = bundle.contract;
    change(contract);
    contract.write(directory / "attune.json");
    return error_of([&] { load_bundle(directory); });
  };
  EXPECT_EQ(error_with([](Contract&) {}), "no error");
  EXPECT_NE(error_with([](Contract& c) { c.labels.insert(c.labels.begin(), "new"); }).find("\"labels\""),
            std::string::npos);
  EXPECT_NE(error_with([](Contract& c) { c.labels.pop_back(); }).find("\"labels\""), std::string::npos);
  EXPECT_NE(
      error_with([](Contract& c) { std::swap(c.labels[0], c.labels[1]); }).find("config.json has \"even\", \"odd\""),
      std::string::npos);
  EXPECT_NE(error_with([](Contract& c) { c.task = "lm"; }).find("the model is a BertForSequenceClassification"),
            std::string::npos);
  EXPECT_NE(error_with([](Contract& c) { c.long_policy.longest = 25; }).find("takes 24 tokens"), std::string::npos);
  EXPECT_NE(error_with([](Contract& c) { c.long_policy.longest = 2; }).find("2 special tokens"), std::string::npos);
  std::filesystem::remove_all(directory);
  bundle.contract.labels = {"same", "same"};
  write_directory_atomically(directory, [&](const Path& fresh) { save_bundle(bundle, fresh); });
  EXPECT_NE(error_of([&] { load_bundle(directory); }).find("two classes have the same label"), std::string::npos);
  std::filesystem::remove_all(directory);
}

TEST(Calibrate, DocumentsThatTrainingHasSeenAreWarnedOf) {
  Documents training = some_documents(8), validation = some_documents(10);
  Bundle bundle = some_classifier(training);
  std::vector<std::string> warnings = calibration_warnings(bundle, {.validation = validation, .training = &training});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("8 of 10 texts"), std::string::npos) << warnings[0];
  bundle.contract.data = {{"train", "t.jsonl", "77", 10}};
  EXPECT_EQ(calibration_warnings(bundle, {.validation = validation, .hash = "77"}).size(), 1U);
  EXPECT_TRUE(calibration_warnings(bundle, {.validation = validation, .hash = "78"}).empty());
}

TEST(Calibrate, ALabelThatTheModelLacksIsNamedWithItsLine) {
  Documents documents = some_documents(10);
  Bundle bundle = some_classifier(documents);
  documents.items[6].label = "neither";
  std::string error = error_of([&] { calibrate_bundle(bundle, {.validation = documents}, {}, {}); });
  EXPECT_NE(error.find("line 7"), std::string::npos) << error;
  EXPECT_NE(error.find("neither"), std::string::npos) << error;
  EXPECT_FALSE(bundle.contract.calibration);
}

}  // namespace
}  // namespace attune
