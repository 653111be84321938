#include <fmt/format.h>

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/bundle.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/report/text_table.h"
#include "attune/text/tokenizer.h"

namespace attune {

namespace {

struct TokenizeArguments {
  std::string tokenizer;
  InputArguments input;
  OutputArguments output;
};

bool wants_special_tokens(const Document& document) {
  auto found = document.fields.find("add_special_tokens");
  if (found == document.fields.end()) return true;
  check(found->second == "true" || found->second == "false",
        "line {}: \"add_special_tokens\" is {}: expected true or false", document.line, found->second);
  return found->second == "true";
}

Encoding encode(const Tokenizer& tokenizer, const Document& document) {
  TextPair input{.text = document.text};
  if (auto pair = document.fields.find("pair"); pair != document.fields.end()) input.pair = pair->second;
  return tokenizer.encode(input, {.add_special_tokens = wants_special_tokens(document), .tokens = true});
}

Json result_of(const Encoding& encoding, const std::string& decoded) {
  Json offsets = Json::array();
  for (const TextRange& range : encoding.offsets) offsets.push_back({range.begin, range.end});
  return {{"ids", encoding.ids}, {"tokens", encoding.tokens}, {"offsets", offsets}, {"decoded", decoded}};
}

void print_one(Output& out, const Encoding& encoding, const std::string& decoded) {
  report::Table table{.columns = {{"id"}, {"begin"}, {"end"}, {"token", report::Align::left}}, .rows = {}};
  for (std::size_t i = 0; i < encoding.size(); ++i)
    table.rows.push_back({std::to_string(encoding.ids[i]), std::to_string(encoding.offsets[i].begin),
                          std::to_string(encoding.offsets[i].end), encoding.tokens[i]});
  out.line(table.text() + fmt::format("{} tokens; decoded: {}", encoding.size(), decoded));
}

int run_tokenize(const TokenizeArguments& a) {
  Documents documents = read_input(a.input, {.empty_text = true});
  Output out(a.output);
  Tokenizer tokenizer = open_tokenizer(a.tokenizer);
  for (const Document& document : documents.items) {
    Encoding encoding = encode(tokenizer, document);
    std::string decoded = tokenizer.decode(encoding.ids);
    if (a.output.json)
      out.record(document, result_of(encoding, decoded));
    else if (documents.items.size() == 1)
      print_one(out, encoding, decoded);
    else
      out.line(fmt::format("{}: {} tokens: {}", document.id, encoding.size(), fmt::join(encoding.tokens, " ")));
  }
  out.finish();
  return 0;
}

}  // namespace

Command tokenize_command() {
  return {"tokenize", "Data", "shows texts as the tokens that a model reads",
          "attune tokenize run/model --text \"Chest pain, resolved.\"", [](Arguments& arguments) -> Action {
            auto a = std::make_shared<TokenizeArguments>();
            arguments.positional("MODEL", a->tokenizer, "model directory or tokenizer.json");
            declare_input(arguments, a->input);
            declare_output(arguments, a->output);
            return [a](const Session&) { return run_tokenize(*a); };
          }};
}

}  // namespace attune
