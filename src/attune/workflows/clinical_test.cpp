// The main job from end to end, with a tiny model and a hundred documents that are easy to tell apart.
#include "attune/workflows/clinical.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/log.h"
#include "attune/base/random.h"

namespace attune::workflows {
namespace {

/// A directory of its own for one test, removed at its end; what the log says is kept.
class ClinicalWorkflow : public testing::Test {
 protected:
  ClinicalWorkflow() {
    std::string name = (std::filesystem::temp_directory_path() / "attune_clinical_XXXXXX").string();
    scratch_ = mkdtemp(name.data());
    set_log_sink([this](LogLevel, const std::string& message) { log_ += message + "\n"; });
  }
  ~ClinicalWorkflow() override {
    set_log_sink({});
    std::filesystem::remove_all(scratch_);
  }

  /// Documents of three kinds, each in words of its own among words of all; patients and templates where asked for.
  Path write_data(const std::string& name, bool grouped, int count = 120) {
    const char* kinds[] = {"fracture radiograph shadow", "invoice payment balance", "tablet dose nightly"};
    const char* labels[] = {"imaging", "billing", "medication"};
    const char* common[] = {"the", "patient", "today", "was", "seen", "with", "note", "and", "ward", "letter"};
    RandomStream random(RandomKey{.seed = 3});
    std::vector<Document> documents;
    for (int i = 0; i < count; ++i) {
      int kind = i % 3;
      Document document;
      document.id = "d" + std::to_string(i);
      document.label = labels[kind];
      if (i % 20 == 19) document.label.reset(), kind = -1;
      for (int w = 0; w < 25; ++w) {
        document.text += std::string(common[random.below(10)]) + std::to_string(random.below(40)) + " ";
        if (w % 8 == 0 && kind >= 0) document.text += std::string(kinds[kind]) + " ";
      }
      if (grouped) {
        document.fields["patient"] = "p" + std::to_string(i / 2);
        document.fields["source"] = i / 2 % 5 == 0 ? "far" : "near" + std::to_string(i / 2 % 3);
      }
      documents.push_back(document);
    }
    write_documents(scratch_ / name, documents, {.labels = Labels::nullable});
    return scratch_ / name;
  }

  ClinicalOptions options(const Path& data, const std::string& output = "job") const {
    ClinicalOptions o;
    o.output = scratch_ / output;
    o.data = data;
    o.target_error = 0.2;
    o.model = {.hidden_size = 16,
               .num_hidden_layers = 1,
               .num_attention_heads = 2,
               .intermediate_size = 32,
               .max_position_embeddings = 48,
               .vocab_size = 320,
               .pretraining_epochs = 1,
               .epochs = 6,
               .learning_rate = 1e-2,
               .batch_tokens = 512};
    return o;
  }

  Path scratch_;
  std::string log_;
};

std::string error_of(const ClinicalOptions& options) {
  try {
    run_clinical(options, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(ClinicalWorkflow, GoesFromDocumentsToAReportThatBeatsTheMajority) {
  ClinicalOptions o = options(write_data("d.jsonl", true));
  ClinicalOutcome outcome = run_clinical(o, {});
  for (const char* file :
       {"data/train.jsonl", "data/unfamiliar.jsonl", "data/split.json", "baselines.json", "pretrain/model/config.json",
        "run/model/attune.json", "run/model/attune.safetensors", "predictions.jsonl", "evaluation.json", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(o.output / file)) << file;
  Json record = read_json(o.output / "evaluation.json");
  EXPECT_EQ(record["slices"][0]["name"], "all");
  const Json& systems = record["slices"][0]["systems"];
  EXPECT_GT(systems["Transformer"]["macro_f1"]["value"], systems["majority"]["macro_f1"]["high"]);
  EXPECT_FALSE(systems.contains("rules"));  // these documents bring no rules file
  for (const char* word : {"Transformer", "linear model", "unfamiliar", "of no category", "Novelty"})
    EXPECT_NE(outcome.table.find(word), std::string::npos) << word;
}

TEST_F(ClinicalWorkflow, SecondRunDoesNothingAndSaysTheSame) {
  ClinicalOptions o = options(write_data("d.jsonl", true));
  std::string first = run_clinical(o, {}).table;
  auto written = std::filesystem::last_write_time(o.output / "report.html");
  log_.clear();
  EXPECT_EQ(run_clinical(o, {}).table, first);
  EXPECT_EQ(std::filesystem::last_write_time(o.output / "report.html"), written);
  for (const char* step : {"split", "baselines", "pretrain", "train", "calibrate", "evaluate"})
    EXPECT_NE(log_.find(std::string(step) + ": unchanged"), std::string::npos) << step << " in:\n" << log_;
}

TEST_F(ClinicalWorkflow, ChangedRulesRedoBaselinesAndReportButNoTraining) {
  ClinicalOptions o = options(write_data("d.jsonl", true));
  run_clinical(o, {});
  write_file_atomically(o.output / "rules.toml",
                        "default = \"billing\"\n[[rule]]\nlabel = \"imaging\"\nphrase = \"radiograph\"\n");
  log_.clear();
  run_clinical(o, {});
  EXPECT_NE(log_.find("train: unchanged"), std::string::npos) << log_;
  EXPECT_NE(log_.find("calibrate: unchanged"), std::string::npos) << log_;
  EXPECT_EQ(log_.find("evaluate: unchanged"), std::string::npos) << log_;
  EXPECT_TRUE(read_json(o.output / "evaluation.json")["slices"][0]["systems"].contains("rules"));
}

TEST_F(ClinicalWorkflow, WithoutGroupFieldsTheReportSaysWhatItCannotShow) {
  ClinicalOptions o = options(write_data("d.jsonl", false));
  o.model.pretraining_epochs = 0;
  run_clinical(o, {});
  EXPECT_FALSE(std::filesystem::exists(o.output / "data" / "unfamiliar.jsonl"));
  std::string page = read_file(o.output / "report.html");
  EXPECT_NE(page.find("There are no group fields"), std::string::npos);
  EXPECT_NE(page.find("No source or template was held out"), std::string::npos);
}

TEST_F(ClinicalWorkflow, StoppedInTrainingItGoesOnToTheSameModel) {
  Path data = write_data("d.jsonl", true);
  ClinicalOptions whole = options(data, "whole"), stopped = options(data, "stopped");
  whole.model.pretraining_epochs = stopped.model.pretraining_epochs = 0;
  run_clinical(whole, {});
  std::atomic<bool> cancel = false;
  attune::Run run;
  run.cancel = &cancel;
  run.progress = [&](const Progress& now) { cancel = now.doing == "training" && now.done >= 9; };
  EXPECT_THROW(run_clinical(stopped, run), Cancelled);
  EXPECT_FALSE(std::filesystem::exists(stopped.output / "report.html"));
  run_clinical(stopped, {});
  EXPECT_EQ(sha256_of_file(stopped.output / "run/model/model.safetensors"),
            sha256_of_file(whole.output / "run/model/model.safetensors"));
  EXPECT_EQ(read_json(stopped.output / "evaluation.json"), read_json(whole.output / "evaluation.json"));
}

TEST_F(ClinicalWorkflow, BadDocumentsAreOneErrorAndNothingIsWritten) {
  Path one_class = scratch_ / "one.jsonl", rare = scratch_ / "rare.jsonl", no_label = scratch_ / "none.jsonl";
  std::string many;
  for (int i = 0; i < 30; ++i)
    many += R"({"text": "text number )" + std::to_string(i * 977) + R"(", "label": "a"})" + "\n";
  write_file_atomically(one_class, many);
  write_file_atomically(rare, many + R"({"text": "another", "label": "b"})" + "\n");
  write_file_atomically(no_label, R"({"text": "another"})" + std::string("\n"));
  EXPECT_NE(error_of(options(one_class)).find("all labelled documents have the label \"a\""), std::string::npos);
  EXPECT_NE(error_of(options(rare)).find("the label \"b\" has 1 document"), std::string::npos);
  EXPECT_NE(error_of(options(no_label)).find("line 1"), std::string::npos);
  EXPECT_NE(error_of(options(scratch_ / "missing.jsonl")).find("missing.jsonl"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "job"));
}

TEST_F(ClinicalWorkflow, OptionsOutOfRangeAreRefusedAndTheEarlierJobStays) {
  ClinicalOptions good = options(write_data("d.jsonl", true));
  good.model.pretraining_epochs = 0;
  run_clinical(good, {});
  auto files = [&] {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(good.output))
      if (entry.is_regular_file()) all[entry.path().string()] = sha256_of_file(entry.path());
    return all;
  };
  const auto before = files();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto refused = [&](const std::string& words, const std::function<void(ClinicalOptions&)>& change) {
    ClinicalOptions bad = good;
    change(bad);
    std::string error = error_of(bad);
    EXPECT_NE(error.find(words), std::string::npos) << error;
    EXPECT_EQ(files(), before) << words;
  };
  for (double value : {0.0, -1.0, nan, 1e300})
    refused(fmt::format("--epochs is {}", value), [&](ClinicalOptions& o) { o.model.epochs = value; });
  for (double value : {-1.0, nan, 1e300})
    refused(fmt::format("--pretraining-epochs is {}", value),
            [&](ClinicalOptions& o) { o.model.pretraining_epochs = value; });
  for (double value : {0.0, 1.5, nan})
    refused(fmt::format("--target-error is {}", value), [&](ClinicalOptions& o) { o.target_error = value; });
  refused("batch_tokens", [](ClinicalOptions& o) { o.model.batch_tokens = 0; });
  refused("norules.toml", [&](ClinicalOptions& o) { o.rules = scratch_ / "norules.toml"; });
  refused("\"patent\"", [](ClinicalOptions& o) { o.group_fields = {"patent"}; });
  refused("missing.jsonl", [&](ClinicalOptions& o) { o.data = scratch_ / "missing.jsonl"; });
}

TEST_F(ClinicalWorkflow, ADirectoryOfOtherThingsIsLeftAlone) {
  make_directories(scratch_ / "job" / "run");
  write_file_atomically(scratch_ / "job" / "run" / "thesis.txt", "years of work");
  EXPECT_NE(error_of(options(write_data("d.jsonl", true))).find("no earlier run made it"), std::string::npos);
  EXPECT_EQ(read_file(scratch_ / "job" / "run" / "thesis.txt"), "years of work");
}

}  // namespace
}  // namespace attune::workflows
