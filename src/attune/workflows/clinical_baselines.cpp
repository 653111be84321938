#include "attune/workflows/clinical_baselines.h"

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/baseline/linear_model.h"
#include "attune/baseline/majority.h"
#include "attune/baseline/rules.h"
#include "attune/data/split_files.h"
#include "attune/report/numbers.h"
#include "attune/tasks/classify.h"
#include "attune/workflows/clinical_example/clinical_example.h"

namespace attune::workflows {

namespace {

Documents labelled(const Documents& documents) {
  Documents out;
  out.source = documents.source;
  for (const Document& document : documents.items)
    if (document.label) out.items.push_back(document);
  return out;
}

std::vector<double> largest_values(const std::vector<double>& values, int columns) {
  std::vector<double> out;
  for (auto row = values.begin(); row != values.end(); row += columns)
    out.push_back(*std::max_element(row, row + columns));
  return out;
}

BaselineAnswers linear_answers(const ClinicalData& data, const Run& run) {
  int labels = static_cast<int>(data.labels.size());
  Documents train = labelled(data.train), validation = labelled(data.validation), tests = data.tests();
  LinearModel model = LinearModel::fit({texts_of(train), class_numbers(data.labels, train)},
                                       {texts_of(validation), class_numbers(data.labels, validation)}, labels, {}, run);
  std::vector<double> probabilities = model.probabilities(texts_of(tests));
  return {
      "linear model",
      fmt::format("TF-IDF over words and pairs of words ({} terms), logistic regression, C = {} chosen on validation",
                  report::with_thousands(model.terms()), model.c()),
      largest_columns(probabilities, labels), largest_values(probabilities, labels)};
}

BaselineAnswers rules_answers(const Path& file, const ClinicalData& data) {
  Documents tests = data.tests();
  RuleBaseline rules = RuleBaseline::read(file, data.labels);
  return {"rules",
          "written by hand: " + file.filename().string(),
          largest_columns(rules.probabilities(texts_of(tests)), static_cast<int>(data.labels.size())),
          {}};
}

BaselineAnswers majority_answers(const ClinicalData& data) {
  int labels = static_cast<int>(data.labels.size());
  std::vector<int> targets = class_numbers(data.labels, labelled(data.train));
  auto count = static_cast<std::int64_t>(data.tests().items.size());
  std::vector<double> probabilities = MajorityBaseline(targets, labels).probabilities(count);
  std::vector<int> answers = largest_columns(probabilities, labels);
  return {
      "majority", "always the commonest label, " + data.labels[static_cast<std::size_t>(answers.at(0))], answers, {}};
}

Json to_json(const BaselineAnswers& one) {
  return {
      {"name", one.name}, {"description", one.description}, {"answers", one.answers}, {"confidence", one.confidence}};
}

BaselineAnswers from_json(const Json& json) {
  return {json["name"], json["description"], json["answers"].get<std::vector<int>>(),
          json["confidence"].get<std::vector<double>>()};
}

}  // namespace

std::optional<Path> rules_file(const ClinicalOptions& options) {
  if (options.rules) return options.rules;
  Path own = options.output / "rules.toml";
  if (std::filesystem::exists(own)) return own;
  return std::nullopt;
}

std::vector<BaselineAnswers> clinical_baselines(const ClinicalOptions& options, const ClinicalData& data,
                                                const Steps& steps, const Run& run) {
  if (!options.data && !rules_file(options)) write_file_atomically(options.output / "rules.toml", clinical_rules());
  std::optional<Path> rules = rules_file(options);
  Path kept = options.output / "baselines.json", split = options.output / "data" / manifest_name;
  steps.run({.name = "baselines",
             .fingerprint = fingerprint_of({sha256_of_file(split), rules ? sha256_of_file(*rules) : "no rules"}),
             .results = {kept}},
            [&] {
              log_info("baselines: majority class, rules, linear model over words");
              Json all = Json::array({to_json(linear_answers(data, run))});
              if (rules) all.push_back(to_json(rules_answers(*rules, data)));
              all.push_back(to_json(majority_answers(data)));
              write_file_atomically(kept, to_text(all) + "\n");
            });
  std::vector<BaselineAnswers> answers;
  for (const Json& one : read_json(kept)) answers.push_back(from_json(one));
  return answers;
}

}  // namespace attune::workflows
