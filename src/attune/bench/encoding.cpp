#include "attune/bench/encoding.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/bench/threads_restored.h"
#include "attune/bundle/sentence_embedding.h"
#include "attune/data/batches.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/models/architecture.h"

namespace attune::bench {

namespace {

constexpr std::int64_t layers = 6, hidden = 384, inner = 1536, vocabulary = 30522, documents = 1000;

Json config() {
  return {{"model_type", "bert"},       {"architectures", {"BertModel"}}, {"vocab_size", vocabulary},
          {"hidden_size", hidden},      {"num_hidden_layers", layers},    {"num_attention_heads", 12},
          {"intermediate_size", inner}, {"max_position_embeddings", 512}};
}

/// Lengths as letters and notes have them: many short, few long.
std::vector<std::vector<std::int64_t>> random_documents() {
  RandomStream random(RandomKey{.seed = 1}.at("documents"));
  std::vector<std::vector<std::int64_t>> all(documents);
  for (auto& ids : all) {
    const double share = random.uniform();  // the mean of 8 + 248 x^1.82 is 96
    const auto length = static_cast<std::int64_t>(8 + 248 * std::pow(share, 1.82));
    for (std::int64_t t = 0; t < length; ++t) ids.push_back(random.below(vocabulary));
  }
  return all;
}

/// Seconds to embed all of them.
double seconds_of(const Model& model, const std::vector<std::vector<std::int64_t>>& all) {
  const SentenceEmbedding embedding{.normalize = true};
  std::vector<std::int64_t> lengths;
  for (const auto& ids : all) lengths.push_back(static_cast<std::int64_t>(ids.size()));
  NoGradient none;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& part : make_batches(lengths, {.batch_tokens = 8192, .order = BatchOrder::sequential}, 0)) {
    std::vector<std::vector<std::int64_t>> ids;
    for (std::int64_t i : part) ids.push_back(all[static_cast<std::size_t>(i)]);
    const Batch batch = Batch::of(ids);
    check(embedding(model.forward(batch), batch.offsets).dim(1) == hidden, "bench encode: a vector is missing");
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<std::string> encoding_names() { return {"minilm, f32", "minilm, int8"}; }

void encoding(const Report& report, const Run& run) {
  ThreadsRestored restored;
  const auto all = random_documents();
  double tokens = 0, pairs = 0;
  for (const auto& ids : all) {
    const auto length = static_cast<double>(ids.size());
    tokens += length, pairs += length * length;
  }
  const auto width = static_cast<double>(hidden);
  const double operations = static_cast<double>(layers) *
                            (2 * width * (4 * width + 2 * static_cast<double>(inner)) + 4 * width * pairs / tokens);
  for (const bool int8 : {false, true}) {
    const std::string name = encoding_names()[int8 ? 1 : 0];
    if (!report.wants(name)) continue;
    const std::unique_ptr<Model> model = build_model(config(), "the benchmark's model",
                                                     {.checkpoint = nullptr,
                                                      .initial = RandomKey{.seed = 1}.at("weights"),
                                                      .linears = int8 ? LinearFormat::int8 : LinearFormat::as_stored});
    for (int threads : std::set<int>{1, restored.before}) {
      set_num_threads(threads);
      std::vector<double> seconds;
      for (int round = 0; round < 3; ++round) {
        if (run.cancelled()) throw Cancelled("bench encode: stopped");
        seconds.push_back(seconds_of(*model, all));
      }
      std::sort(seconds.begin(), seconds.end());
      const double rate = int8 ? kernels::byte_multiply_add_rate() : kernels::multiply_add_rate();
      report({"encode", name, threads, tokens / seconds[1], "tokens/s", rate / operations});
    }
  }
}

void write_encoding_cases(const Path& directory) {
  write_directory_atomically(directory, [](const Path& inside) {
    AtomicFile file(inside / "minilm.jsonl");
    file.write(Json{{"config", config()}}.dump() + "\n");
    for (const auto& ids : random_documents()) file.write(Json{{"ids", ids}}.dump() + "\n");
    file.commit();
  });
}

}  // namespace attune::bench
