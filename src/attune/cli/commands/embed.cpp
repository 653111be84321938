#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/checkpoint/npy.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/report/numbers.h"
#include "attune/report/text.h"
#include "attune/tasks/classify.h"
#include "attune/tasks/embed.h"

namespace attune {

namespace {

struct EmbedArguments {
  std::string model;
  std::optional<std::string> policy, pooling, prompt, prompt_name, query;
  bool normalize = false;
  std::optional<std::int64_t> top;
  InputArguments input;
  OutputArguments output;

  EmbedOptions options() const {
    EmbedOptions o{.prompt_name = prompt_name, .prompt = prompt};
    if (pooling) o.pooling = parse_sentence_pooling(*pooling);
    if (normalize) o.normalize = true;
    if (policy) o.long_policy = LongPolicy::parse(*policy);
    return o;
  }
};

void print(Output& out, const std::string& id, const TextEmbedding& one) {
  std::string first;
  const std::size_t shown = std::min<std::size_t>(one.values.size(), 6);
  for (std::size_t i = 0; i < shown; ++i) first += fmt::format("{:.4f} ", one.values[i]);
  out.line(fmt::format("{}: {}{} ({} numbers, {})", report::on_one_line(id), first,
                       shown < one.values.size() ? "..." : "", one.values.size(),
                       report::counted(one.tokens, "token")));
}

void write_matrix(const std::vector<TextEmbedding>& embeddings, const std::string& path) {
  std::vector<float> values;
  for (const TextEmbedding& one : embeddings) values.insert(values.end(), one.values.begin(), one.values.end());
  const auto rows = static_cast<std::int64_t>(embeddings.size());
  write_npy(path, Tensor::from<float>({rows, static_cast<std::int64_t>(values.size()) / rows}, values));
}

double cosine(const TextEmbedding& a, const TextEmbedding& b) {
  double product = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double x = a.values[i], y = b.values[i];
    product += x * y, of_a += x * x, of_b += y * y;
  }
  return product / std::max(std::sqrt(of_a) * std::sqrt(of_b), 1e-12);
}

/// The texts nearest to the query, best first. A model that has a prompt named "query" gets it.
void search(Output& out, const EmbedArguments& a, const Embedder& embedder, const Documents& documents,
            const Session& session) {
  EmbedOptions options = a.options();
  const std::vector<TextEmbedding> all = embed(embedder, texts_of(documents), options, session.run);
  if (!options.prompt && !options.prompt_name && embedder.embedding.prompts.contains("query"))
    options.prompt_name = "query";
  const std::string_view query = *a.query;
  const TextEmbedding asked = embed(embedder, std::span(&query, 1), options, session.run).front();
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(cosine(asked, all[i]), i);
  std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(a.top.value_or(5))));
  for (const auto& [score, i] : order) {
    const Document& document = documents.items[i];
    if (a.output.json)
      out.record(document, {{"score", score}, {"text", document.text}, {"tokens", all[i].tokens}});
    else
      out.line(
          fmt::format("{:.3f}  {}  {}", score, report::on_one_line(document.id), report::on_one_line(document.text)));
  }
}

int run_embed(const EmbedArguments& a, const Session& session) {
  const Documents documents = read_input(a.input);
  const bool matrix = a.output.file && a.output.file->ends_with(".npy");
  check_usage(!matrix || !a.output.json, "--output {}: a .npy file is no JSON: leave --json out",
              a.output.file.value_or(""));
  check_usage(!a.query || !a.query->empty(), "--query is empty: give a text");
  check_usage(!matrix || !a.query, "--query lists texts: its --output is no .npy file");
  const OutputArguments nothing;
  Output out(matrix ? nothing : a.output);
  const Embedder embedder = load_embedder(a.model);
  if (a.query) {
    search(out, a, embedder, documents, session);
    out.finish();
    return 0;
  }
  const std::vector<TextEmbedding> embeddings = embed(embedder, texts_of(documents), a.options(), session.run);
  if (matrix) {
    write_matrix(embeddings, *a.output.file);
    return 0;
  }
  for (std::size_t i = 0; i < embeddings.size(); ++i) {
    const TextEmbedding& one = embeddings[i];
    if (a.output.json)
      out.record(documents.items[i], {{"embedding", one.values}, {"tokens", one.tokens}, {"chunks", one.chunks}});
    else
      print(out, documents.items[i].id, one);
  }
  out.finish();
  return 0;
}

}  // namespace

Command embed_command() {
  return {"embed", "Use", "makes a vector of each text, near where texts say the same; searches texts by meaning",
          "attune embed all-MiniLM-L6-v2 --input letters.jsonl --query \"pain in the chest\" --top 3",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<EmbedArguments>();
            arguments.positional("MODEL", a->model, "model directory (sentence-transformers', or any encoder)");
            declare_input(arguments, a->input);
            declare_output(arguments, a->output);
            arguments.option("--query", a->query, "list the texts nearest to this one instead, by their cosine");
            arguments.option("--top", a->top, "of --query: how many; else 5", {.at_least = 1});
            arguments.option("--prompt-name", a->prompt_name,
                             "which of the model's prompts is put before each text (\"query\"); else its default");
            arguments.option("--prompt", a->prompt, "or this text");
            arguments.excludes({"--prompt-name"}, "--prompt");
            arguments.choice("--pooling", a->pooling,
                             {"cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"},
                             "how token states become one vector; else as the model says");
            arguments.flag("--normalize", a->normalize, "to length 1, whatever the model says");
            arguments.needs({"--top"}, "--query");
            arguments.excludes({"--normalize"}, "--query");  // a cosine does not depend on lengths
            arguments.choice("--long", a->policy, {"refuse", "chunk"},
                             "what to do with a text beyond the longest input: an error, or the mean of its pieces");
            return [a](const Session& session) { return run_embed(*a, session); };
          }};
}

}  // namespace attune
