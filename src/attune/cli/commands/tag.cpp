#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/report/numbers.h"
#include "attune/report/text.h"
#include "attune/tasks/classify.h"
#include "attune/tasks/tag.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

struct TagArguments {
  std::string model, grouping = "simple";
  std::optional<std::string> policy;
  InputArguments input;
  OutputArguments output;
};

int run_tag(const TagArguments& a, const Session& session) {
  const Documents documents = read_input(a.input);
  Output out(a.output);
  const Bundle bundle = load_bundle(a.model);
  TagOptions options{.grouping = parse_entity_grouping(a.grouping)};
  if (a.policy) options.long_policy = LongPolicy::parse(*a.policy);
  const std::vector<TaggedText> texts = tag(bundle, texts_of(documents), options, session.run);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Document& document = documents.items[i];
    Json entities = Json::array();
    for (const Entity& e : texts[i].entities) {
      const std::string part(
          code_point_range(document.text, static_cast<std::size_t>(e.begin), static_cast<std::size_t>(e.end)));
      if (a.output.json)
        entities.push_back(
            {{"start", e.begin}, {"end", e.end}, {"label", e.label}, {"text", part}, {"score", e.score}});
      else
        out.line(fmt::format("{}  {:>5}-{:<5} {:10} {:>6}  {}", report::on_one_line(document.id), e.begin, e.end,
                             report::on_one_line(e.label), report::percent(e.score), report::on_one_line(part)));
    }
    if (a.output.json)
      out.record(document, {{"entities", entities}, {"tokens", texts[i].tokens}, {"chunks", texts[i].chunks}});
    else if (texts[i].entities.empty())
      out.line(report::on_one_line(document.id) + "  no entity");
  }
  out.finish();
  return 0;
}

}  // namespace

Command tag_command() {
  return {"tag", "Use", "finds names and other entities in texts",
          "attune tag bert-ner --text \"Ada Lovelace met Babbage.\"", [](Arguments& arguments) -> Action {
            auto a = std::make_shared<TagArguments>();
            arguments.positional("MODEL", a->model, "model directory (a token classifier)");
            declare_input(arguments, a->input);
            declare_output(arguments, a->output);
            arguments.choice("--grouping", a->grouping, {"simple", "first", "average", "max"},
                             "token by token, or a word as its first token, its average or its surest one");
            arguments.choice(
                "--long", a->policy, {"refuse", "chunk", "stride"},
                "what to do with a text beyond the longest input: an error, pieces, or overlapping pieces");
            return [a](const Session& session) { return run_tag(*a, session); };
          }};
}

}  // namespace attune
