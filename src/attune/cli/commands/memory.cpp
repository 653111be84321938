#include <fmt/format.h>

#include <filesystem>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/report/numbers.h"
#include "attune/report/text.h"
#include "attune/report/text_table.h"
#include "attune/tasks/text_memory.h"

namespace attune {

namespace {

struct MemoryArguments {
  bool add = false, remove = false, list = false, score = false;
  std::string model, memory;
  std::vector<std::string> ids;
  InputArguments input;
  OutputArguments output;
};

std::vector<NamedText> named(const Documents& documents) {
  std::vector<NamedText> all;
  for (const Document& document : documents.items) all.push_back({document.id, document.text});
  return all;
}

void print_size(const KeyMemory& memory, const std::string& file) {
  fmt::print("{}, {} in {}\n", report::counted(static_cast<std::int64_t>(memory.names.size()), "text"),
             report::counted(memory.size(), "token"), file);
}

int run_add(const MemoryArguments& a, const Session& session) {
  const Documents documents = read_input(a.input);
  const Bundle bundle = load_bundle(a.model);
  TextMemory memory =
      std::filesystem::exists(a.memory) ? TextMemory(bundle, TextMemory::open(a.memory)) : TextMemory(bundle);
  memory.add(named(documents), session.run);
  memory.save(a.memory);
  print_size(memory.keys(), a.memory);
  return 0;
}

int run_remove(const MemoryArguments& a) {
  KeyMemory memory = TextMemory::open(a.memory);
  for (const std::string& id : a.ids) forget_text(memory, id);
  memory.save(a.memory);
  print_size(memory, a.memory);
  return 0;
}

int run_list(const MemoryArguments& a) {
  const KeyMemory memory = TextMemory::open(a.memory);
  Output out(a.output);
  report::Table table{.columns = {{"id", report::Align::left}, {"tokens"}}, .rows = {}};
  for (const RememberedText& text : remembered_texts(memory)) {
    if (a.output.json)
      out.line(Json({{"id", text.name}, {"tokens", text.tokens}}).dump());
    else
      table.rows.push_back({report::on_one_line(text.name), std::to_string(text.tokens)});
  }
  if (!a.output.json) {
    std::string text = table.text();
    text.pop_back();  // line() ends it
    out.line(text);
  }
  out.finish();
  return 0;
}

int run_score(const MemoryArguments& a, const Session& session) {
  const Documents documents = read_input(a.input);
  Output out(a.output);
  const Bundle bundle = load_bundle(a.model);
  const TextMemory memory(bundle, TextMemory::open(a.memory));
  const std::vector<MemoryScore> scores = memory.score(named(documents), session.run);
  report::Table table{.columns = {{"id", report::Align::left}, {"tokens"}, {"loss"}, {"without memory"}}, .rows = {}};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const MemoryScore& one = scores[i];
    const std::string id = report::on_one_line(documents.items[i].id);
    if (!one.left_out.empty()) {
      log_warning("the text " + id + " was left out: " + one.left_out);
      if (a.output.json) out.record(documents.items[i], {{"tokens", one.tokens}, {"skipped", one.left_out}});
    } else if (a.output.json)
      out.record(documents.items[i], {{"tokens", one.tokens}, {"loss", one.loss}, {"loss_without", one.loss_without}});
    else
      table.rows.push_back(
          {id, std::to_string(one.tokens), fmt::format("{:.4f}", one.loss), fmt::format("{:.4f}", one.loss_without)});
  }
  if (!a.output.json) {
    std::string text = table.text();
    text.pop_back();
    out.line(text);
  }
  out.finish();
  return 0;
}

}  // namespace

Command memory_command() {
  return {
      "memory", "Use", "what a language model with kNN memory looks up in: add, remove, list, score",
      "attune memory add run/model --memory notes.safetensors --input notes.jsonl", [](Arguments& arguments) -> Action {
        auto a = std::make_shared<MemoryArguments>();
        const char* file = "the memory's file";
        Arguments add =
            arguments.subcommand("add", "reads texts into a memory; one whose id is there takes its place",
                                 "attune memory add run/model --memory notes.safetensors --input n.jsonl", a->add);
        add.positional("MODEL", a->model, "model directory");
        add.required("--memory", a->memory, "the memory's file; a new one where there is none");
        declare_input(add, a->input);
        Arguments remove =
            arguments.subcommand("remove", "takes texts out of a memory",
                                 "attune memory remove --memory notes.safetensors --id note-7", a->remove);
        remove.required("--memory", a->memory, file);
        remove.required("--id", a->ids, "of the text; may be given several times");
        Arguments list = arguments.subcommand("list", "says what a memory holds",
                                              "attune memory list --memory notes.safetensors", a->list);
        list.required("--memory", a->memory, file);
        declare_output(list, a->output);
        Arguments score =
            arguments.subcommand("score", "how well texts are foreseen with a memory and without",
                                 "attune memory score run/model --memory notes.safetensors --text \"...\"", a->score);
        score.positional("MODEL", a->model, "model directory");
        score.required("--memory", a->memory, file);
        declare_input(score, a->input);
        declare_output(score, a->output);
        return [a](const Session& session) {
          if (a->add) return run_add(*a, session);
          if (a->remove) return run_remove(*a);
          return a->list ? run_list(*a) : run_score(*a, session);
        };
      }};
}

}  // namespace attune
