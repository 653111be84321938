#include <fmt/core.h>

#include <algorithm>
#include "attune/base/json_values.h"

#include "attune/base/log.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/numbers.h"
#include "attune/evaluate/text_evaluation.h"
#include "attune/workflows/model_report.h"

namespace attune {

namespace {

struct EvaluateArguments {
  std::string model, data;
  std::optional<std::string> output;
  bool json = false;
  workflows::ModelReportOptions options;
  // of a metric of texts
  std::optional<std::string> metric, predictions, tokenizer, smoothing;
  std::vector<std::string> references, cutoffs;
  std::optional<double> smoothing_value, no_answer_threshold;
  evaluate::TextEvaluation asked;
  bool lower_case = false, strict = false;
};

int run_classifier(const EvaluateArguments& a, const Session& session) {
  check_usage(!a.model.empty() && !a.data.empty(),
              "nothing to measure: give a model and --data, or --metric, --predictions and --references");
  workflows::ModelReportOptions options = a.options;
  options.model = a.model;
  options.data = a.data;
  if (a.output) options.output = *a.output;
  options.seed = session.seed;
  workflows::ModelReportOutcome outcome = workflows::report_on_model(options, session.run);
  for (const std::string& warning : outcome.warnings) log_warning(warning);
  if (a.json)
    fmt::print("{}\n", to_text(*outcome.record));
  else
    fmt::print("{}", outcome.table);
  if (options.output && !a.json) fmt::print("{}\n", (*options.output / "report.html").string());
  return 0;
}

/// Throws UsageError where an option was given that the metric has no use for.
void check_belongs(const EvaluateArguments& a) {
  const auto only = [&](bool given, const char* option, std::initializer_list<const char*> metrics) {
    std::string names;
    for (const char* name : metrics) names += (names.empty() ? "" : ", ") + std::string(name);
    check_usage(!given || std::ranges::find(metrics, *a.metric) != metrics.end(), "{} is an option of {}, not of {}",
                option, names, *a.metric);
  };
  only(a.tokenizer.has_value(), "--tokenizer", {"bleu"});
  only(a.smoothing.has_value(), "--smoothing", {"bleu"});
  only(a.smoothing_value.has_value(), "--smoothing-value", {"bleu"});
  only(a.asked.bleu.effective_order, "--effective-order", {"bleu"});
  only(a.lower_case, "--lower-case", {"bleu", "chrf", "chrf++"});
  only(a.asked.rouge.stem, "--stem", {"rouge"});
  only(a.strict, "--strict", {"spans"});
  only(a.no_answer_threshold.has_value(), "--no-answer-threshold", {"squad-v2"});
  only(!a.cutoffs.empty(), "--cutoffs", {"ranking"});
  check_usage(!a.smoothing_value || a.smoothing == "floor" || a.smoothing == "add-k",
              "--smoothing-value is of --smoothing floor or add-k: give one of them, or leave it out");
}

int run_metric(const EvaluateArguments& a, const Session& session) {
  check_usage(a.model.empty(), "--metric measures files of texts: leave out the model");
  check_belongs(a);
  evaluate::TextEvaluation asked = a.asked;
  asked.metric = *a.metric;
  asked.predictions = *a.predictions;
  asked.references.assign(a.references.begin(), a.references.end());
  if (a.tokenizer) asked.bleu.tokenizer = evaluate::bleu_tokenizer(*a.tokenizer);
  if (a.smoothing) asked.bleu.smoothing = evaluate::bleu_smoothing(*a.smoothing);
  asked.bleu.smoothing_value = a.smoothing_value;
  asked.bleu.lower_case = asked.chrf.lower_case = a.lower_case;
  if (a.strict) asked.tags = evaluate::TagReading::strict;
  asked.no_answer_threshold = a.no_answer_threshold.value_or(1);
  if (!a.cutoffs.empty()) asked.cutoffs = read_lengths("--cutoffs", a.cutoffs);
  asked.bootstrap.seed = session.seed;
  const evaluate::TextEvaluationResult result = evaluate::evaluate_texts(asked);
  for (const auto& item : result.each) {
    Json line = {{"id", parse_json(item.id, "id")}};
    for (const auto& figure : item.figures) line[figure.name] = figure.value.value;
    fmt::print("{}\n", to_text(line));
  }
  fmt::print("{}", a.json ? to_text(result.record(asked.metric)) + "\n" : result.table(asked.metric));
  return 0;
}

void declare_metric(Arguments& arguments, EvaluateArguments& a) {
  arguments.choice("--metric", a.metric, evaluate::text_metrics(),
                   "measure what any system wrote against references, without a model");
  arguments.option("--predictions", a.predictions,
                   "what was written: JSON lines, as `translate --json` gives; .txt: a text a line");
  arguments.option("--references", a.references,
                   "what should have been; belongs together by \"id\", else by order. Several times: more references");
  arguments.option("--prediction-field", a.asked.prediction_field,
                   "else text, answer, tags or entities, scores or ranking: what the metric is of");
  arguments.option("--reference-field", a.asked.reference_field,
                   "else references, target or text; answers; tags or entities; relevant");
  arguments.flag("--each", a.asked.each, "a JSON line of each item's own figures before the whole");
  arguments.choice("--tokenizer", a.tokenizer, {"13a", "intl", "char", "none"}, "bleu: as in sacreBLEU; else 13a");
  arguments.choice("--smoothing", a.smoothing, {"exp", "floor", "add-k", "none"}, "bleu: as in sacreBLEU; else exp");
  arguments.option("--smoothing-value", a.smoothing_value, "bleu: of floor (0.1) or add-k (1)");
  arguments.flag("--effective-order", a.asked.bleu.effective_order, "bleu: no longer n-grams than the texts have");
  arguments.flag("--lower-case", a.lower_case, "bleu, chrf: compare in lower case");
  arguments.flag("--stem", a.asked.rouge.stem, "rouge: compare the stems of English words");
  arguments.flag("--strict", a.strict, "spans: IOB2 by the book; else as conlleval reads tags");
  arguments.option("--no-answer-threshold", a.no_answer_threshold,
                   "squad-v2: no_answer_probability above which an answer counts as none; else 1");
  arguments.option("--cutoffs", a.cutoffs, "ranking: ranks to look at; else 1,5,10", true);
  arguments.needs({"--predictions", "--references", "--prediction-field", "--reference-field", "--each", "--tokenizer",
                   "--smoothing", "--smoothing-value", "--effective-order", "--lower-case", "--stem", "--strict",
                   "--no-answer-threshold", "--cutoffs"},
                  "--metric");
  arguments.needs({"--metric"}, "--predictions");
  arguments.excludes({"--data", "--by", "--group", "--output", "--text-field", "--label-field", "--skip-bad"},
                     "--metric");
}

}  // namespace

Command evaluate_command() {
  return {"evaluate", "Trust", "measures a classifier on labelled documents, or what was written against references",
          "attune evaluate clinical/run/model --data clinical/data/unfamiliar.jsonl --by source,template",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<EvaluateArguments>();
            arguments.optional_positional("MODEL", a->model, "model directory of a classifier");
            arguments.option("--data", a->data, "labelled documents; a null label: a document of no category");
            arguments.option("--by", a->options.by, "fields to slice by, as in source,template", true);
            arguments.option("--group", a->options.group,
                             "field whose documents belong together, for the intervals; else patient, where there is "
                             "one");
            arguments.option("--output", a->output, "directory for evaluation.json, predictions.jsonl and report.html");
            arguments.flag("--json", a->json, "the figures as one JSON line");
            arguments.option("--text-field", a->options.format.text_field, "the field that holds the text");
            arguments.option("--label-field", a->options.format.label_field, "the field that holds the label");
            arguments.flag("--skip-bad", a->options.format.skip_bad, "leave out bad lines, and count them");
            declare_metric(arguments, *a);
            return [a](const Session& session) {
              return a->metric ? run_metric(*a, session) : run_classifier(*a, session);
            };
          }};
}

}  // namespace attune
