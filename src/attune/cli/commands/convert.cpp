#include <fmt/format.h>
#include <algorithm>

#include "attune/base/error.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/convert.h"
#include "attune/cli/commands/commands.h"
#include "attune/data/record.h"
#include "attune/explain/parity.h"
#include "attune/report/text.h"

namespace attune {

namespace {

struct ConvertArguments {
  std::string source, target;
  std::optional<std::string> type, check;
};

std::vector<std::string> lines_of(const Path& file) {
  std::vector<std::string> lines;
  for_each_line(file, [&](std::int64_t number, std::string_view line) {
    within(fmt::format("{}, line {}", file.string(), number), [&] { check_plain_text(line); });
    if (!line.empty()) lines.emplace_back(line);
  });
  check(!lines.empty(), "{} has no text to compare the models on", file.string());
  return lines;
}

/// Names with numbers of layers, as many as share the rest: "blk.*.attn_k.weight (Q8_0)".
std::vector<std::string> of_all_layers(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    std::string form;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::size_t end = name.find_first_not_of("0123456789", i);
      const bool layer = i > 0 && name[i - 1] == '.' && end != i && end != std::string::npos && name[end] == '.';
      form += layer ? '*' : name[i];
      if (layer) i = end - 1;
    }
    if (std::ranges::find(all, form) == all.end()) all.push_back(form);
  }
  return all;
}

void show_templates(const explain::TemplateParity& templates) {
  if (!templates.any) {
    fmt::print("chat template    none in either\n");
    return;
  }
  const std::int64_t other = templates.other_texts + templates.other_ids;
  fmt::print("chat template    {} of {} short conversations the same, text and token ids\n",
             templates.conversations - other, templates.conversations);
  if (templates.other_texts > 0) fmt::print("                 first other text: {}\n", templates.first_other);
  if (templates.other_ids > 0) fmt::print("                 the same text, other token ids: {}\n", templates.other_ids);
}

int run_check(const ConvertArguments& a, const std::vector<std::string>& lines, const Session& session) {
  const Bundle first = load_bundle(a.source), second = load_bundle(a.target);
  const explain::Parity parity = explain::compare(first, second, lines, {}, session.run);
  fmt::print("token ids        {} of {} lines the same, {} tokens\n", parity.texts - parity.other_ids, parity.texts,
             parity.tokens);
  if (parity.other_ids > 0)
    fmt::print("                 first other line: {}\n",
               report::shortened(report::on_one_line(parity.first_other), 80));
  show_templates(parity.templates);
  fmt::print("{} worst difference {:.3g}, cosine mean {:.5f}, least {:.5f} over {} tokens\n",
             parity.has_logits ? "logits          " : "hidden states   ", parity.worst_difference, parity.mean_cosine,
             parity.least_cosine, parity.compared);
  if (parity.has_logits)
    fmt::print(
        "next token       KL mean {:.3g}, worst {:.3g} nats; the same most likely one after {:.2f} % of tokens\n",
        parity.mean_kl, parity.worst_kl,
        100.0 * static_cast<double>(parity.same_best) /
            static_cast<double>(std::max<std::int64_t>(parity.compared, 1)));
  return parity.other_ids == 0 && parity.templates.other_texts == 0 && parity.templates.other_ids == 0
             ? 0
             : exit_answer_is_no;
}

int run_convert(const ConvertArguments& a, const Session& session) {
  const bool to_gguf = is_gguf(a.target);
  check_usage(!to_gguf || !is_gguf(a.source), "of SRC and DST one at most is a .gguf file");
  std::vector<std::string> lines;  // read before anything is written
  if (a.check) lines = lines_of(*a.check);
  ConvertReport report;
  check_usage(!to_gguf || a.type != "int8", "a .gguf file holds no int8: --type q8_0 is as small");
  if (to_gguf) {
    report = convert_to_gguf(a.source, a.target, written_format(a.type.value_or("f16")), session.run);
  } else if (a.type == "int8" && !is_gguf(a.source)) {
    report = convert_directory(a.source, a.target, std::nullopt, session.run);
  } else {
    check_usage(a.type != "int8", "int8 is made of a model directory: convert {} to one first", a.source);
    const GgufFormat format = written_format(a.type.value_or("f32"));
    check_usage(std::holds_alternative<DType>(format),
                "a model directory is written in f32, f16 or bf16 (--type is {})", *a.type);
    const DType type = std::get<DType>(format);
    report = is_gguf(a.source) ? convert_to_directory(a.source, a.target, type, session.run)
                               : convert_directory(a.source, a.target, type, session.run);
  }
  fmt::print("{} tensors in {}\n", report.tensors, a.target);
  if (report.rounding)
    fmt::print("rounding left out {:.2f} % of a matrix on average, at most {:.2f} % ({})\n",
               100 * report.rounding->mean, 100 * report.rounding->worst, report.rounding->worst_name);
  if (!report.other_types.empty())
    fmt::print("in another type, as their rows are no whole blocks or they are the output: {}\n",
               fmt::join(of_all_layers(report.other_types), ", "));
  if (!report.left_out.empty())
    fmt::print("left out, as there is no place for them: {}\n", fmt::join(report.left_out, ", "));
  return a.check ? run_check(a, lines, session) : 0;
}

}  // namespace

Command convert_command() {
  return {"convert", "Train and adapt",
          "a model in another form: a directory as a GGUF file, a GGUF file as a directory, a directory in int8",
          "attune convert model.gguf model --check text.txt", [](Arguments& arguments) -> Action {
            auto a = std::make_shared<ConvertArguments>();
            arguments.positional("SRC", a->source, "model directory or .gguf file");
            arguments.positional("DST", a->target, "what to write: a .gguf file, or a new directory");
            arguments.choice("--type", a->type,
                             {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q4_k", "q5_k", "q6_k", "int8"},
                             "of the weights: q... in a .gguf file alone, int8, which runs faster, from directory to "
                             "directory alone (default: f16 in a .gguf file, f32 in a directory)");
            arguments.option("--check", a->check,
                             "text file: compares token ids and logits of both on its lines, and chat templates on "
                             "short conversations; exit 3 "
                             "where ids or conversations differ");
            return [a](const Session& session) { return run_convert(*a, session); };
          }};
}

}  // namespace attune
