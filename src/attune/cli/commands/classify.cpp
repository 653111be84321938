#include <fmt/format.h>

#include <algorithm>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/report/numbers.h"
#include "attune/report/text.h"
#include "attune/report/text_table.h"
#include "attune/tasks/classify.h"

namespace attune {

namespace {

struct ClassifyArguments {
  std::string model;
  std::optional<std::string> policy;
  InputArguments input;
  OutputArguments output;
};

Json result_of(const Classified& one, const std::vector<std::string>& labels) {
  Json line = {{"label", one.label}, {"confidence", one.confidence}};
  for (std::size_t c = 0; c < one.probabilities.size(); ++c) line["scores"][labels[c]] = one.probabilities[c];
  line["route"] = one.automatic ? "automatic" : "review";
  line["reasons"] = one.reasons;
  line["novelty"] = one.novelty ? Json(*one.novelty) : Json(nullptr);
  line["tokens"] = one.tokens;
  line["chunks"] = one.chunks;
  return line;
}

std::string read_in(const Classified& one) {
  return report::counted(one.tokens, "token") + " in " + report::counted(one.chunks, "chunk");
}

/// One text's answer with all its scores.
void print_one(Output& out, const Classified& one, const std::vector<std::string>& labels) {
  out.line(fmt::format("{}  {}  {}", report::on_one_line(one.label), report::percent(one.confidence),
                       one.automatic ? "automatic" : "review"));
  for (const std::string& why : one.explained) out.line("  " + why);
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < one.probabilities.size(); ++c) order.push_back(c);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return one.probabilities[a] > one.probabilities[b]; });
  for (std::size_t c : order)
    out.line(fmt::format("  {:>7}  {}", report::percent(one.probabilities[c]), report::on_one_line(labels[c])));
  out.line("  read: " + read_in(one) + (one.novelty ? fmt::format("; novelty {:.4g}", *one.novelty) : ""));
}

void print_many(Output& out, const Documents& documents, const std::vector<Classified>& answers) {
  report::Table table{.columns = {{"id", report::Align::left},
                                  {"label", report::Align::left},
                                  {"confidence"},
                                  {"route", report::Align::left},
                                  {"tokens"},
                                  {"chunks"},
                                  {"why", report::Align::left}},
                      .rows = {}};
  std::int64_t automatic = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Classified& one = answers[i];
    automatic += one.automatic && one.reasons.empty();
    table.rows.push_back({documents.items[i].id, one.label, report::percent(one.confidence),
                          one.automatic ? "automatic" : "review", std::to_string(one.tokens),
                          std::to_string(one.chunks), fmt::format("{}", fmt::join(one.explained, "; "))});
  }
  std::string text = table.text();
  text.pop_back();  // line() ends it
  out.line(text);
  out.line(fmt::format("\n{}: {} answered automatically, {} to review",
                       report::counted(static_cast<std::int64_t>(answers.size()), "document"), automatic,
                       static_cast<std::int64_t>(answers.size()) - automatic));
}

int run_classify(const ClassifyArguments& a, const Session& session) {
  Documents documents = read_input(a.input);
  Output out(a.output);
  Bundle bundle = load_classifier(a.model);
  std::optional<LongPolicy::Kind> policy;
  if (a.policy) policy = LongPolicy::parse(*a.policy);
  std::vector<Classified> answers = classify(bundle, texts_of(documents), session.run, policy);
  const auto& labels = bundle.contract.labels;
  if (a.output.json)
    for (std::size_t i = 0; i < answers.size(); ++i) out.record(documents.items[i], result_of(answers[i], labels));
  else if (answers.size() == 1)
    print_one(out, answers[0], labels);
  else
    print_many(out, documents, answers);
  out.finish();
  return 0;
}

}  // namespace

Command classify_command() {
  return {"classify", "Use", "labels texts, says how sure it is, and what a person should look at",
          "attune classify clinical/run/model --text \"Thank you for seeing this patient with chest pain.\"",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<ClassifyArguments>();
            arguments.positional("MODEL", a->model, "model directory");
            declare_input(arguments, a->input);
            declare_output(arguments, a->output);
            arguments.choice("--long", a->policy, {"refuse", "chunk"},
                             "what to do with a text beyond the longest input; else as the model's "
                             "contract says");
            return [a](const Session& session) { return run_classify(*a, session); };
          }};
}

}  // namespace attune
