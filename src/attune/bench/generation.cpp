#include "attune/bench/generation.h"

#include <algorithm>
#include <chrono>
#include <set>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/bench/threads_restored.h"
#include "attune/decode/decoder.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/models/architecture.h"

namespace attune::bench {

namespace {

constexpr std::int64_t layers = 12, hidden = 768, vocabulary = 8192, prompt_length = 64, written = 32;

std::unique_ptr<Model> gpt2() {
  const Json config = {{"model_type", "gpt2"}, {"architectures", {"GPT2LMHeadModel"}},
                       {"n_layer", layers},    {"n_embd", hidden},
                       {"n_head", 12},         {"vocab_size", vocabulary},
                       {"n_positions", 256},   {"eos_token_id", 0},
                       {"bos_token_id", 0}};
  return build_model(config, "the benchmark's model", {.checkpoint = nullptr, .initial = RandomKey{.seed = 1}});
}

struct Decoded {
  std::vector<Tensor> logits;  // of each step, [sequences, vocabulary]
  double seconds = 0;          // of all steps behind the prompts'
};

/// Continues the prompts by fixed ids, which is what a sampled continuation costs without the sampling.
Decoded decode(const Model& model, const std::vector<std::vector<std::int64_t>>& prompts,
               const std::vector<std::vector<std::int64_t>>& continuations) {
  Decoder decoder(model);
  std::vector<Decoder::Sequence> sequences;
  for (std::size_t i = 0; i < prompts.size(); ++i) sequences.push_back(decoder.begin());
  Decoded result;
  result.logits.push_back(decoder.step(sequences, prompts));
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t t = 0; t < static_cast<std::size_t>(written); ++t) {
    std::vector<std::vector<std::int64_t>> next;
    for (const auto& ids : continuations) next.push_back({ids[t]});
    result.logits.push_back(decoder.step(sequences, next));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

std::vector<std::vector<std::int64_t>> random_ids(std::size_t sequences, std::int64_t length, std::string_view site) {
  RandomStream random(RandomKey{.seed = 1}.at(site));
  std::vector<std::vector<std::int64_t>> all(sequences);
  for (auto& ids : all)
    for (std::int64_t t = 0; t < length; ++t) ids.push_back(random.below(vocabulary));
  return all;
}

void check_same_bits(const Decoded& together, const Decoded& alone, std::int64_t sequence) {
  for (std::size_t t = 0; t < alone.logits.size(); ++t) {
    const auto a = together.logits[t].rows(sequence, sequence + 1).values<float>(), b = alone.logits[t].values<float>();
    check(std::equal(a.begin(), a.end(), b.begin(), b.end()),
          "bench generate: sequence {} has other bits among eight than alone, at token {}", sequence, t);
  }
}

}  // namespace

std::vector<std::string> generation_names() {
  return {"one sequence", "eight together", "eight together, time of one"};
}

void generation(const Report& report, const Run& run) {
  ThreadsRestored restored;
  const std::unique_ptr<Model> model = gpt2();
  const auto prompts = random_ids(8, prompt_length, "prompts"), ids = random_ids(8, written, "continuations");
  const double weights = static_cast<double>(layers * 12 * hidden * hidden + vocabulary * hidden);  // read each step
  for (int threads : std::set<int>{1, restored.before}) {
    set_num_threads(threads);
    std::vector<double> one, eight;
    for (int round = 0; round < 3; ++round) {  // in turn, so that a change of the machine's load meets both
      if (run.cancelled()) throw Cancelled("bench generate: stopped");
      const Decoded together = decode(*model, prompts, ids);
      const std::size_t i = static_cast<std::size_t>(round) * 3 + 1;
      const Decoded alone = decode(*model, {prompts[i]}, {ids[i]});
      check_same_bits(together, alone, static_cast<std::int64_t>(i));
      one.push_back(alone.seconds);
      eight.push_back(together.seconds);
    }
    std::sort(one.begin(), one.end());
    std::sort(eight.begin(), eight.end());
    const double reads =
        kernels::read_rate(static_cast<std::int64_t>(weights)) / (weights * 4);  // of all weights, a second
    const auto tokens = static_cast<double>(written);
    const auto tell = [&](const Measurement& m) {  // all are measured together
      if (report.wants(m.name)) report(m);
    };
    tell({"generate", "one sequence", threads, tokens / one[1], "tokens/s", reads});
    tell({"generate", "eight together", threads, 8 * tokens / eight[1], "tokens/s",
          std::min(8 * reads, kernels::multiply_add_rate() / (2 * weights))});
    tell({"generate", "eight together, time of one", threads, eight[1] / one[1], "times", 1});
  }
}

}  // namespace attune::bench
