#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/bundle.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/cli/numbers.h"
#include "attune/explain/probes.h"
#include "attune/explain/sliding_perplexity.h"
#include "attune/tasks/generation_settings.h"
#include "attune/workflows/family_summary.h"

namespace attune {

namespace {

struct ProbeArguments {
  bool perplexity = false, needle = false, copy = false, write = false, summary = false;  // which of them
  std::string model, input, text_field = "text";
  std::optional<std::int64_t> stride;
  std::vector<std::string> lengths, depths = {"0", "0.25", "0.5", "0.75", "1"};
  std::int64_t documents = 20, pairs = 4, span = 24, words = 0, most_tokens = 0, length = 128;
  bool json = false;
  std::optional<std::string> output, cache;
  std::string costs, results, directory;  // of a summary

  std::vector<std::int64_t> asked_lengths() const {
    return read_lengths("--lengths", lengths.empty() ? std::vector<std::string>{"128..1024"} : lengths);
  }
  explain::ProbeGrid grid(std::uint64_t seed) const {
    return {asked_lengths(), read_numbers("--depths", depths, {.at_least = 0, .at_most = 1}), documents, seed};
  }
};

std::vector<std::string> texts_of(const ProbeArguments& a) {
  std::vector<std::string> texts;
  for (Document& document : read_data(a.input, {.text_field = a.text_field}).items)
    texts.push_back(std::move(document.text));
  return texts;
}

explain::ProbeText probe_text(const ProbeArguments& a, const Tokenizer& tokenizer, const Run& run) {
  const std::vector<std::string> texts = texts_of(a);
  return explain::ProbeText::of(tokenizer, std::vector<std::string_view>(texts.begin(), texts.end()), a.words, run);
}

explain::Probed probed(const Bundle& bundle) {
  std::optional<std::int64_t> mask;
  if (bundle.model->facts().head == HeadKind::masked_lm)
    for (const char* name : {"[MASK]", "<mask>"})
      if (auto id = bundle.text().id_of(name); id && !mask) mask = *id;
  return {*bundle.model, {mask, {}}};
}

/// One stream of tokens, the end token behind each document where the model has one, as in training.
std::vector<std::int64_t> stream_of(const ProbeArguments& a, const Bundle& bundle, const Run& run) {
  const std::vector<std::int64_t>& ends = bundle.model->facts().eos_token_ids;
  std::vector<std::int64_t> stream;
  for (const std::string& text : texts_of(a)) {
    if (run.cancelled()) throw Cancelled("stopped: the texts were not read to their end");
    const Encoding encoding = bundle.text().encode(text, {.add_special_tokens = false});
    stream.insert(stream.end(), encoding.ids.begin(), encoding.ids.end());
    if (!ends.empty()) stream.push_back(ends.front());
    if (a.most_tokens > 0 && static_cast<std::int64_t>(stream.size()) >= a.most_tokens) break;
  }
  if (a.most_tokens > 0 && static_cast<std::int64_t>(stream.size()) > a.most_tokens)
    stream.resize(static_cast<std::size_t>(a.most_tokens));
  return stream;
}

int run_perplexity(const ProbeArguments& a, const Session& session) {
  const std::vector<std::int64_t> lengths = a.asked_lengths();
  const Bundle bundle = load_bundle(a.model);
  const bool masked = bundle.model->facts().head == HeadKind::masked_lm;
  explain::Probed asked = probed(bundle);
  if (a.cache) asked.asking.cache = cache_format(*a.cache);
  const auto results = explain::probe_perplexity(asked, stream_of(a, bundle, session.run), lengths, session.run);
  if (!a.json) fmt::print("{:>8} {:>9} {:>11} {:>20}  by position\n", "length", "tokens", "perplexity", "95 %");
  for (const auto& r : results) {
    Json line = {{"probe", "perplexity"}, {"masked", masked}, {"length", r.length}};
    if (!r.skipped.empty()) {
      line["skipped"] = r.skipped;
      fmt::print("{}\n", a.json ? to_text(line) : fmt::format("{:>8} not measured: {}", r.length, r.skipped));
      continue;
    }
    line["tokens"] = r.tokens, line["loss"] = r.loss.value, line["perplexity"] = r.perplexity();
    const bool known = std::isfinite(r.loss.low);  // with one stretch there is no interval
    line["low"] = known ? Json(std::exp(r.loss.low)) : Json(),
    line["high"] = known ? Json(std::exp(r.loss.high)) : Json();
    std::string parts;
    for (const auto& part : r.by_position) {
      line["by_position"].push_back(
          {{"begin", part.begin}, {"end", part.end}, {"tokens", part.tokens}, {"perplexity", std::exp(part.loss)}});
      parts += fmt::format(" {}-{}: {:.1f}", part.begin, part.end - 1, std::exp(part.loss));
    }
    const std::string interval =
        known ? fmt::format("{:.2f} to {:.2f}", std::exp(r.loss.low), std::exp(r.loss.high)) : "one stretch alone";
    fmt::print("{}\n", a.json ? to_text(line)
                              : fmt::format("{:>8} {:>9} {:>11.2f} {:>20} {}", r.length, r.tokens, r.perplexity(),
                                            interval, parts));
  }
  return 0;
}

/// Each document on its own, with the special tokens that the tokenizer puts around it.
int run_sliding(const ProbeArguments& a, const Session& session) {
  std::vector<std::int64_t> lengths;
  if (!a.lengths.empty()) lengths = read_lengths("--lengths", a.lengths);
  const Bundle bundle = load_bundle(a.model);
  explain::Probed asked = probed(bundle);
  if (a.cache) asked.asking.cache = cache_format(*a.cache);
  std::vector<std::vector<std::int64_t>> texts;
  std::int64_t left = a.most_tokens > 0 ? a.most_tokens : std::numeric_limits<std::int64_t>::max();
  for (const std::string& text : texts_of(a)) {
    const Encoding encoding = bundle.text().encode(text);
    const auto taken = std::min(left, static_cast<std::int64_t>(encoding.ids.size()));
    if (taken > 0) texts.emplace_back(encoding.ids.begin(), encoding.ids.begin() + taken);
    left -= taken;
  }
  const std::int64_t longest = longest_sequence(bundle);
  if (lengths.empty()) lengths = {longest > 0 ? longest : 1024};
  if (!a.json) fmt::print("{:>8} {:>8} {:>9} {:>11} {:>20}\n", "length", "stride", "tokens", "perplexity", "95 %");
  for (std::int64_t length : lengths) {
    const auto r = explain::sliding_perplexity(asked, texts, length, *a.stride, session.run);
    const bool known = std::isfinite(r.loss.low);  // with one window there is no interval
    const Json low = known ? Json(std::exp(r.loss.low)) : Json(), high = known ? Json(std::exp(r.loss.high)) : Json();
    const Json line = {{"probe", "perplexity"},
                       {"length", length},
                       {"stride", *a.stride},
                       {"tokens", r.tokens},
                       {"windows", r.windows.size()},
                       {"loss", r.loss.value},
                       {"perplexity", r.perplexity()},
                       {"low", low},
                       {"high", high},
                       {"recipe_perplexity", r.recipe_perplexity()}};
    const std::string interval =
        known ? fmt::format("{:.2f} to {:.2f}", std::exp(r.loss.low), std::exp(r.loss.high)) : "one window alone";
    fmt::print("{}\n", a.json ? to_text(line)
                              : fmt::format("{:>8} {:>8} {:>9} {:>11.2f} {:>20}", length, *a.stride, r.tokens,
                                            r.perplexity(), interval));
  }
  return 0;
}

int run_grid(const ProbeArguments& a, const Session& session) {
  const explain::ProbeGrid grid = a.grid(session.seed);
  const Bundle bundle = load_bundle(a.model);
  const explain::ProbeText text = probe_text(a, bundle.text(), session.run);
  const auto cells = a.needle ? probe_needle(probed(bundle), text, grid, a.pairs, session.run)
                              : probe_copy(probed(bundle), text, grid, a.span, session.run);
  if (!a.json)
    fmt::print("{:>8} {:>6} {:>10} {:>9} {:>16} {:>7}\n", "length", "depth", "documents", "right", "95 %", "loss");
  for (const auto& cell : cells) {
    Json line = {{"probe", a.needle ? "needle" : "copy"}, {"length", cell.length}, {"depth", cell.depth}};
    if (!cell.skipped.empty()) {
      line["skipped"] = cell.skipped;
      fmt::print("{}\n", a.json ? to_text(line)
                                : fmt::format("{:>8} {:>6} not measured: {}", cell.length, cell.depth, cell.skipped));
      continue;
    }
    line["documents"] = cell.documents, line["accuracy"] = cell.accuracy.value;
    line["low"] = cell.accuracy.low, line["high"] = cell.accuracy.high, line["loss"] = cell.loss;
    fmt::print("{}\n", a.json ? to_text(line)
                              : fmt::format("{:>8} {:>6} {:>10} {:>7.1f} % {:>16} {:>7.3f}", cell.length, cell.depth,
                                            cell.documents, 100 * cell.accuracy.value,
                                            fmt::format("{:.1f} to {:.1f} %", 100 * cell.accuracy.low,
                                                        100 * cell.accuracy.high),
                                            cell.loss));
  }
  return 0;
}

int run_write(const ProbeArguments& a, const Session& session) {
  const Tokenizer tokenizer = open_tokenizer(a.model);
  const explain::ProbeText text = probe_text(a, tokenizer, session.run);
  Output output({a.output, true});
  for (std::int64_t i = 0; i < a.documents; ++i) {
    if (session.run.cancelled()) throw Cancelled("stopped: not all texts were written");
    RandomStream random(RandomKey{.seed = session.seed}.at("probe for training").at(static_cast<std::uint64_t>(i)));
    const bool pairs = i % 2 == 0;
    const explain::Asked document =
        pairs ? repeated_pairs(text, a.length, a.pairs, random) : repeated_words(text, a.length, a.span, random);
    const std::vector<std::int32_t> ids(document.ids.begin(), document.ids.end());
    output.line(to_text(Json{{"id", i}, {"kind", pairs ? "pairs" : "words"}, {"text", tokenizer.decode(ids)}}));
  }
  output.finish();
  return 0;
}

int run_summary(const ProbeArguments& a) {
  const auto summary = workflows::summarise_families(a.costs, a.results);
  const Path directory = a.directory;
  make_directories(directory);
  write_file_atomically(directory / "table.md", summary.table);
  if (!summary.plot.empty()) write_file_atomically(directory / "perplexity.svg", summary.plot);
  fmt::print("{}", summary.table);
  return 0;
}

int run_probe(const ProbeArguments& a, const Session& session) {
  if (a.write) return run_write(a, session);
  if (a.summary) return run_summary(a);
  if (!a.perplexity) return run_grid(a, session);
  return a.stride ? run_sliding(a, session) : run_perplexity(a, session);
}

void declare_text(Arguments& arguments, ProbeArguments& a) {
  arguments.required("--input", a.input, "file of real texts (JSON lines; .csv, .tsv, .txt by their ending)");
  arguments.option("--text-field", a.text_field, "the field that holds the text");
}

void declare_words(Arguments& arguments, ProbeArguments& a) {
  arguments.option("--words", a.words, "draw from the tokenizer's first so many whole words, the most frequent; 0: all",
                   {.at_least = 0});
}

void declare_lengths(Arguments& arguments, ProbeArguments& a) {
  arguments.option("--lengths", a.lengths, "tokens in a sequence: 512,1024, or doubling, 512..4096; else 128..1024",
                   true);
  arguments.flag("--json", a.json, "a JSON line each");
}

void declare_grid(Arguments& arguments, ProbeArguments& a) {
  declare_text(arguments, a);
  declare_lengths(arguments, a);
  declare_words(arguments, a);
  arguments.option("--depths", a.depths, "0: at the beginning of the text, 1: at its end", true);
  arguments.option("--documents", a.documents, "for each length and depth",
                   {.at_least = 1, .at_most = explain::most_documents});
}

}  // namespace

Command probe_command() {
  const char* example = "attune probe perplexity run/model --input held_out.jsonl --lengths 512..4096";
  return {
      "probe", "Look inside", "what a language model makes of length: perplexity, needles, copying", example,
      [example](Arguments& arguments) -> Action {
        auto a = std::make_shared<ProbeArguments>();
        Arguments perplexity =
            arguments.subcommand("perplexity", "of the same tokens read in sequences of each length, and by position",
                                 example, a->perplexity);
        perplexity.positional("MODEL", a->model, "model directory");
        declare_text(perplexity, *a);
        declare_lengths(perplexity, *a);
        perplexity.option("--most-tokens", a->most_tokens, "read no more of the texts than this; 0: all",
                          {.at_least = 0});
        perplexity.option("--stride", a->stride,
                          "windows over each text, so many tokens apart, that ask only for new tokens; --lengths: of a "
                          "window, else the longest that the model or its contract says, or 1024",
                          {.at_least = 1});
        perplexity.choice("--cache", a->cache, {"f32", "f16", "int8"},
                          "read keys and values as `attune generate --cache` keeps them");
        Arguments needle = arguments.subcommand(
            "needle", "a word that was said once in a long text is asked for at its end",
            "attune probe needle run/model --input held_out.jsonl --lengths 256,1024 --depths 0,0.5,1", a->needle);
        needle.positional("MODEL", a->model, "model directory");
        declare_grid(needle, *a);
        needle.option("--pairs", a->pairs, "of words to remember in a document; one is asked for", {.at_least = 1});
        Arguments copy = arguments.subcommand(
            "copy", "words drawn at random stand in a long text and again at its end",
            "attune probe copy run/model --input held_out.jsonl --lengths 256,1024 --span 24", a->copy);
        copy.positional("MODEL", a->model, "model directory");
        declare_grid(copy, *a);
        copy.option("--span", a->span, "words that are repeated", {.at_least = 2});
        Arguments write = arguments.subcommand(
            "write", "texts to learn looking back from: words said again and again, pairs asked for again and again",
            "attune probe write tokenizer.json --input train.jsonl --documents 2000 --output probes.jsonl", a->write);
        write.positional("TOKENIZER", a->model, "tokenizer.json, or a directory with one");
        declare_text(write, *a);
        declare_words(write, *a);
        write.option("--output", a->output, "JSON lines; else standard output");
        write.option("--documents", a->documents, "how many", {.at_least = 1});
        write.option("--length", a->length, "tokens of each", {.at_least = 1});
        write.option("--pairs", a->pairs, "of words in a document, at most", {.at_least = 1});
        write.option("--span", a->span, "words that are repeated, at most", {.at_least = 2});
        Arguments summary = arguments.subcommand(
            "summary", "attention families side by side, from their costs and probes: a table and a plot",
            "attune probe summary --costs costs.jsonl --results results --output .", a->summary);
        summary.required("--costs", a->costs, "what `attune bench attention --families all --fit --json` printed");
        summary.required("--results", a->results, "directory of FAMILY.jsonl, what the probes with --json printed");
        summary.required("--output", a->directory, "directory for table.md and perplexity.svg");
        return [a](const Session& session) { return run_probe(*a, session); };
      }};
}

}  // namespace attune
