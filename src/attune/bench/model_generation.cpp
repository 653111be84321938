#include "attune/bench/model_generation.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include "attune/base/error.h"
#include "attune/bench/peak_memory.h"
#include "attune/bench/threads_restored.h"
#include "attune/bundle/bundle.h"
#include "attune/decode/decoder.h"
#include "attune/decode/sampling.h"
#include "attune/kernels/cpu/machine_rates.h"

namespace attune::bench {

namespace {

constexpr std::int64_t prompt_length = 512, written = 128;
constexpr const char *prefill = "prefill 512", *decode = "decode 128", *memory = "peak memory", *cold = "cold start";

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

/// Any ids will do; a peer computes the same ones.
std::vector<std::int64_t> prompt(std::int64_t vocabulary) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < prompt_length; ++i) ids.push_back((i * 7919 + 13) % vocabulary);
  return ids;
}

std::int64_t most_probable(const Tensor& logits) {
  return choose_token(logits.values<float>(), {.temperature = 0}, {});
}

struct Pass {
  double reading, writing;  // seconds
  std::int64_t cache_bytes;
};

Pass pass(const Model& model) {
  Decoder decoder(model);
  const std::array sequence = {decoder.begin(prompt_length + written)};
  auto begin = Clock::now();
  std::int64_t id = most_probable(decoder.step(sequence, {prompt(model.facts().vocab_size)}));
  Pass result{.reading = seconds_since(begin), .writing = 0, .cache_bytes = 0};
  begin = Clock::now();
  for (std::int64_t t = 0; t < written; ++t) id = most_probable(decoder.step(sequence, {{id}}));
  result.writing = seconds_since(begin);
  result.cache_bytes = decoder.cache_bytes();
  return result;
}

struct Size {
  double bytes = 0;      // of all weights as they are kept
  double of_layers = 0;  // weights by which each token is multiplied
};

Size size_of(const Model& model) {
  Size size;
  for (const Parameter& one : model.parameters().all()) {
    const auto count = static_cast<double>(one.shape().numel());
    size.bytes += one.blocks ? static_cast<double>(one.blocks->byte_count()) : count * sizeof(float);
    const bool matrix = one.shape().rank() == 2, of_words = one.shape()[0] == model.facts().vocab_size;
    if (matrix && !of_words) size.of_layers += count;
  }
  return size;
}

/// A process of this program that writes one token: seconds until that is there.
double cold_start(const std::string& model, int threads) {
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC) == 0, "bench generate: the system gives no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> words = {"attune",
                                    "generate",
                                    model,
                                    "--prompt",
                                    "The capital of France is",
                                    "--max-tokens",
                                    "1",
                                    "--threads",
                                    std::to_string(threads)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto begin = Clock::now();
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char first = 0;
  const bool came = failed == 0 && read(ends[0], &first, 1) == 1;
  const double seconds = seconds_since(begin);
  close(ends[0]);
  int status = 0;
  if (failed == 0) waitpid(child, &status, 0);
  check(came && status == 0, "bench generate: attune generate {} did not write a token", model);
  return seconds;
}

}  // namespace

std::vector<std::string> model_generation_names() { return {prefill, decode, memory, cold}; }

void model_generation(const Report& report, const Run& run) {
  ThreadsRestored restored;
  begin_peak_memory();
  const Bundle bundle = load_bundle(report.model);
  const Model& model = *bundle.model;
  check(model.facts().head == HeadKind::causal_lm, "bench generate: {} is no causal language model ({})", report.model,
        model.facts().model_type);
  const Size size = size_of(model);
  for (int threads : std::set<int>{1, restored.before}) {
    set_num_threads(threads);
    const auto tell = [&](const char* name, double value, const char* unit, double limit) {
      if (report.wants(name)) report({"generate", name, threads, value, unit, limit});
    };
    const auto reading = [&] {  // asks for as much memory
      return size.bytes / kernels::read_rate(static_cast<std::int64_t>(size.bytes / sizeof(float)));
    };
    if (report.wants(prefill) || report.wants(decode) || report.wants(memory)) {
      std::vector<double> read, write;
      Pass one = pass(model);
      const double most = peak_memory_mb();  // before read_rate() and the like took any
      for (int round = 0; round < 3; ++round) {
        if (run.cancelled()) throw Cancelled("bench generate: stopped");
        one = pass(model);
        read.push_back(one.reading), write.push_back(one.writing);
      }
      const double products = 2 * size.of_layers * prompt_length / kernels::byte_multiply_add_rate() + reading();
      tell(prefill, prompt_length / median(read), "tokens/s", prompt_length / products);
      tell(decode, written / median(write), "tokens/s", 1 / reading());
      if (threads == 1) tell(memory, most, "MB", (size.bytes + static_cast<double>(one.cache_bytes)) * 1e-6);
    }
    if (report.wants(cold)) {
      std::vector<double> starts;
      for (int round = 0; round < 7; ++round) {
        if (run.cancelled()) throw Cancelled("bench generate: stopped");
        starts.push_back(cold_start(report.model, threads));
      }
      tell(cold, median(starts) * 1e3, "ms", reading() * 1e3);
    }
  }
}

}  // namespace attune::bench
