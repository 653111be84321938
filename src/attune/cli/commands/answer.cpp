#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/report/numbers.h"
#include "attune/report/text.h"
#include "attune/tasks/answer.h"

namespace attune {

namespace {

struct AnswerArguments {
  std::string model, question_field = "question";
  std::optional<std::string> question, policy;
  AnswerOptions options;
  InputArguments input;
  OutputArguments output;
};

std::string_view question_of(const AnswerArguments& a, const Document& document) {
  if (a.question) return *a.question;
  const auto found = document.fields.find(a.question_field);
  check(found != document.fields.end(), "line {}: there is no \"{}\": give each line one, or one for all by --question",
        document.line, a.question_field);
  check(!found->second.empty(), "line {}: \"{}\" is empty", document.line, a.question_field);
  return found->second;
}

int run_answer(const AnswerArguments& a, const Session& session) {
  check_usage(a.question || !a.input.text, "--text needs a --question");
  check_usage(!a.question || !a.question->empty(), "--question is empty: give a text");
  const Documents documents = read_input(a.input);
  Output out(a.output);
  std::vector<Question> questions;
  for (const Document& document : documents.items) questions.push_back({question_of(a, document), document.text});
  const Bundle bundle = load_bundle(a.model);
  AnswerOptions options = a.options;
  if (a.policy) options.long_policy = LongPolicy::parse(*a.policy);
  const std::vector<Answer> answers = answer(bundle, questions, options, session.run);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Answer& one = answers[i];
    if (a.output.json) {
      Json line = {{"answer", one.text}, {"start", one.begin}, {"end", one.end}, {"score", one.score}};
      if (options.may_have_none) line["no_answer_score"] = one.none_score;
      line["tokens"] = one.tokens;
      line["chunks"] = one.chunks;
      out.record(documents.items[i], line);
    } else {
      out.line(fmt::format("{}{}  ({}, {}-{})",
                           answers.size() == 1 ? "" : report::on_one_line(documents.items[i].id) + "  ",
                           one.text.empty() ? "no answer" : report::on_one_line(one.text), report::percent(one.score),
                           one.begin, one.end));
    }
  }
  out.finish();
  return 0;
}

}  // namespace

Command answer_command() {
  return {"answer", "Use", "finds the part of a text that answers a question",
          "attune answer bert-squad --question \"Who wrote it?\" --text \"The notes were written by Ada Lovelace.\"",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<AnswerArguments>();
            arguments.positional("MODEL", a->model, "model directory (for question answering)");
            declare_input(arguments, a->input);
            declare_output(arguments, a->output);
            arguments.option("--question", a->question, "of every text; else each line has its own");
            arguments.option("--question-field", a->question_field, "where a line has it");
            arguments.excludes({"--question-field"}, "--question");
            arguments.option("--max-answer-tokens", a->options.most_tokens, "an answer is not longer", {.at_least = 1});
            arguments.flag("--no-answer", a->options.may_have_none, "the text may hold no answer (models of SQuAD 2)");
            arguments.choice(
                "--long", a->policy, {"refuse", "chunk", "stride"},
                "what to do with a text beyond the longest input: an error, pieces, or overlapping pieces");
            return [a](const Session& session) { return run_answer(*a, session); };
          }};
}

}  // namespace attune
