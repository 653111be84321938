#include "attune/bench/translation.h"

#include <algorithm>
#include <chrono>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/file.h"
#include "attune/base/random.h"
#include "attune/bench/threads_restored.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/decode/beam_search.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/models/architecture.h"

namespace attune::bench {

namespace {

constexpr std::int64_t layers = 6, width = 512, inner = 2048, vocabulary = 58101;
constexpr std::int64_t sources = 32, shortest = 5, longest = 40, written = 32, beams = 4;

Json config() {
  return {{"model_type", "marian"},
          {"architectures", {"MarianMTModel"}},
          {"vocab_size", vocabulary},
          {"d_model", width},
          {"encoder_layers", layers},
          {"decoder_layers", layers},
          {"encoder_attention_heads", 8},
          {"decoder_attention_heads", 8},
          {"encoder_ffn_dim", inner},
          {"decoder_ffn_dim", inner},
          {"max_position_embeddings", 512},
          {"activation_function", "swish"},
          {"scale_embedding", true},
          {"pad_token_id", vocabulary - 1},
          {"decoder_start_token_id", vocabulary - 1},
          {"eos_token_id", 0}};
}

std::unique_ptr<Model> model(LinearFormat linears = LinearFormat::as_stored) {
  return build_model(config(), "the benchmark's model",
                     {.checkpoint = nullptr, .initial = RandomKey{.seed = 1}, .linears = linears});
}

/// Each ends with the end token.
std::vector<std::vector<std::int64_t>> source_ids() {
  RandomStream random(RandomKey{.seed = 1}.at("sources"));
  std::vector<std::vector<std::int64_t>> all(sources);
  for (std::int64_t i = 0; i < sources; ++i) {
    const std::int64_t length = shortest + (longest - shortest) * i / (sources - 1);
    auto& ids = all[static_cast<std::size_t>(i)];
    for (std::int64_t t = 0; t + 1 < length; ++t) ids.push_back(1 + random.below(vocabulary - 2));
    ids.push_back(0);
  }
  random.shuffle(all);
  return all;
}

double seconds_of(const Model& model, const std::vector<std::vector<std::int64_t>>& ids) {
  const BeamOptions options{.beams = beams,
                            .max_tokens = written,
                            .stop_ids = {0},
                            .rules = {.forbidden_ids = {vocabulary - 1}, .min_tokens = written},
                            .sequences_together = sources * beams};
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<BeamResult> found = beam_search(model, ids, options, {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (std::size_t i = 0; i < found.size(); ++i)
    check(found[i].ids.size() == static_cast<std::size_t>(written),
          "bench translate: source {} was given {} tokens, not {}", i, found[i].ids.size(), written);
  return seconds;
}

/// Multiplications and additions of all matrix products.
double operations(const std::vector<std::vector<std::int64_t>>& ids) {
  double read = 0;
  for (const auto& one : ids) read += static_cast<double>(one.size());
  constexpr double square = width * width, feedforward = 2 * width * inner;
  constexpr double encoder = layers * (4 * square + feedforward), memory = layers * 2 * square;
  constexpr double decoder = layers * (6 * square + feedforward) + static_cast<double>(vocabulary) * width;
  return 2 * (read * (encoder + memory) + static_cast<double>(sources * written * beams) * decoder);
}

}  // namespace

std::vector<std::string> translation_names() { return {"f32, beam 4", "int8, beam 4"}; }

void translation(const Report& report, const Run& run) {
  ThreadsRestored restored;
  const auto ids = source_ids();
  const auto tokens = static_cast<double>(sources * written);
  for (const bool int8 : {false, true}) {
    const std::string name = translation_names()[int8 ? 1 : 0];
    if (!report.wants(name)) continue;
    const std::unique_ptr<Model> translator = model(int8 ? LinearFormat::int8 : LinearFormat::as_stored);
    seconds_of(*translator, {ids.front()});  // weights are laid out once
    for (int threads : std::set<int>{1, restored.before}) {
      set_num_threads(threads);
      std::vector<double> seconds;
      for (int round = 0; round < 3; ++round) {
        if (run.cancelled()) throw Cancelled("bench translate: stopped");
        seconds.push_back(seconds_of(*translator, ids));
      }
      std::sort(seconds.begin(), seconds.end());
      const double rate = int8 ? kernels::byte_multiply_add_rate() : kernels::multiply_add_rate();
      report({"translate", name, threads, tokens / seconds[1], "tokens/s", rate * tokens / operations(ids)});
    }
  }
}

void write_translation_case(const Path& directory) {
  write_directory_atomically(directory, [](const Path& inside) {
    const std::unique_ptr<Model> translator = model();
    std::vector<NamedTensor> tensors;
    for (const Parameter& p : translator->parameters().all()) tensors.push_back({p.name, p.value});
    write_sharded(inside, tensors);
    write_file_atomically(inside / "config.json", config().dump(2) + "\n");
    std::string lines;
    for (const auto& ids : source_ids()) lines += Json(ids).dump() + "\n";
    write_file_atomically(inside / "sources.jsonl", lines);
  });
}

}  // namespace attune::bench
