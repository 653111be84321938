#include "attune/bench/attention_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include "attune/base/json_values.h"

#include "attune/autograd/tape.h"
#include "attune/base/threads.h"
#include "attune/base/usage_error.h"
#include "attune/bench/timing.h"
#include "attune/nn/attention/family.h"
#include "attune/nn/attention/recurrent_memory.h"
#include "attune/ops/view.h"
#include "attune/tensor/storage.h"

namespace attune::bench {

namespace {

constexpr AttentionSizes sizes{.heads = 4, .kv_heads = 4, .head_dim = 64};
constexpr std::int64_t hidden = sizes.heads * sizes.head_dim;
constexpr std::size_t fitted = 5, fewest_fitted = 3;
constexpr double few_are_enough = 0.3;  // seconds: longer than most of what disturbs

Tensor random_values(const Shape& shape, std::string_view site) {
  RandomStream random(RandomKey{.seed = 1}.at(site));
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (float& value : values) value = static_cast<float>(random.uniform() * 2 - 1);
  return Tensor::from<float>(shape, values);
}

/// A family's mixer in a layer of its own, and its inputs of one length.
class Mixer {
 public:
  Mixer(const FamilyEntry& entry, std::int64_t tokens, bool causal)
      : weights_({.checkpoint = nullptr, .initial = RandomKey{.seed = 1}.at("weights"), .trainable = true}, {}),
        batch_(Batch::of({std::vector<std::int64_t>(static_cast<std::size_t>(tokens))})),
        sequences_(AttentionSequences::of(batch_.offsets)) {
    const ConfigReader config(Json{{"family", entry.name}}, "bench attention");
    const Weights w(weights_);
    parts_ = build_family(config, {.causal = causal, .sizes = sizes, .hidden_size = hidden, .longest = tokens},
                          w / "self_attn");
    const LinearOptions dense{.bias = false, .deviation = 0.06};
    layer_ = {.query = Linear(w / "q_proj", hidden, hidden, dense),
              .key = Linear(w / "k_proj", hidden, hidden, dense),
              .value = Linear(w / "v_proj", hidden, hidden, dense),
              .output = Linear(w / "o_proj", hidden, hidden, dense),
              .sizes = sizes,
              .rule = parts_.rule,
              .family = parts_.mixer};
    weights_.finish();
    place_ = {.stack = causal ? Stack::decoder : Stack::encoder};
    const Shape shape{tokens, sizes.heads, sizes.head_dim};
    q_ = random_values(shape, "q"), k_ = random_values(shape, "k"), v_ = random_values(shape, "v");
    x_ = random_values({tokens, hidden}, "x"), dy_ = random_values(shape, "dy");
  }

  void forward() const {
    NoGradient none;
    mixed(q_, k_, v_, x_);
  }
  void forward_and_backward() const {
    const Tensor y = mixed(require_gradient(q_), require_gradient(k_), require_gradient(v_), require_gradient(x_));
    attune::backward(y, reshape(dy_, y.shape()));
    for (const Parameter& p : weights_.all()) set_gradient(p.value, {});
  }

 private:
  Tensor mixed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& x) const {
    if (parts_.recurrence) return (*parts_.recurrence)(x, batch_, segment_stack());
    if (parts_.mixer) return parts_.mixer->mix({q, k, v, x, batch_, place_, parts_.rule, &layer_});
    return attention(q, k, v, sequences_, parts_.rule);
  }
  /// Attention alone, of a segment with its memory tokens.
  RecurrentMemory::Stack segment_stack() const {
    return [this](const Tensor& x, const Batch& batch) {
      const Tensor heads = reshape(x, {x.dim(0), sizes.heads, sizes.head_dim});
      const auto rule = parts_.rule;
      return reshape(attention(heads, heads, heads, AttentionSequences::of(batch.offsets), rule), x.shape());
    };
  }

  ParameterSet weights_;
  Batch batch_;
  AttentionSequences sequences_;
  FamilyParts parts_;
  MultiHead layer_;
  Place place_;
  Tensor q_, k_, v_, dy_;  // [tokens, heads, head_dim]
  Tensor x_;               // [tokens, hidden]
};

double available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::stod(line.substr(13)) * 1024;
  return INFINITY;
}

void measure(const FamilyEntry& entry, double repeated, FamilyCost& cost) {
  const Mixer mixer(entry, cost.tokens, cost.causal);
  auto work = [&] { cost.backward ? mixer.forward_and_backward() : mixer.forward(); };
  reset_peak_in_use();
  const std::int64_t before = allocator_statistics().bytes_in_use;
  auto seconds_of_one = [&] {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double first = seconds_of_one();  // asks the system for memory: it says how much, not how long
  cost.bytes = static_cast<double>(allocator_statistics().peak_in_use - before);
  double seconds = 0;
  if (first < few_are_enough)
    seconds = median_seconds(work, repeated);
  else
    seconds = std::min(seconds_of_one(), seconds_of_one());
  cost.ms = seconds * 1e3;
}

/// What the next length would take: as the last two grew, and in proportion to the length at least; from one alone, as
/// its square.
double predicted(const std::vector<FamilyCost>& measured, std::int64_t tokens, double FamilyCost::*what) {
  if (measured.empty()) return 0;
  auto log_ratio = [](double a, double b) { return std::log(std::max(a, 1e-9) / std::max(b, 1e-9)); };
  const FamilyCost& last = measured.back();
  double exponent = 2;
  if (measured.size() > 1) {
    const FamilyCost& before = measured[measured.size() - 2];
    exponent = log_ratio(last.*what, before.*what) /
               std::log(static_cast<double>(last.tokens) / static_cast<double>(before.tokens));
  }
  return last.*what *
         std::pow(static_cast<double>(tokens) / static_cast<double>(last.tokens), std::clamp(exponent, 1.0, 3.0));
}

std::string why_skipped(const std::vector<FamilyCost>& measured, std::int64_t tokens, double budget) {
  const double seconds = predicted(measured, tokens, &FamilyCost::ms) * 1e-3;
  if (seconds > budget) return fmt::format("about {:.0f} s by what shorter ones took", seconds);
  const double bytes = predicted(measured, tokens, &FamilyCost::bytes);
  if (bytes > available_bytes() * 0.7) return fmt::format("about {:.1f} GB, more than is free here", bytes * 1e-9);
  return "";
}

std::optional<FamilyFit> fit(const std::vector<FamilyCost>& measured) {
  if (measured.size() < fewest_fitted) return std::nullopt;
  std::vector<double> tokens, ms, bytes;
  for (std::size_t i = measured.size() - std::min(measured.size(), fitted); i < measured.size(); ++i) {
    tokens.push_back(static_cast<double>(measured[i].tokens));
    ms.push_back(measured[i].ms), bytes.push_back(measured[i].bytes);
  }
  FamilyFit result{measured[0].family,
                   measured[0].causal,
                   measured[0].backward,
                   static_cast<std::int64_t>(tokens[0]),
                   measured.back().tokens,
                   fit_power_law(tokens, ms),
                   {}};
  if (std::ranges::all_of(bytes, [](double b) { return b > 0; })) result.bytes = fit_power_law(tokens, bytes);
  return result;
}

std::vector<FamilyEntry> chosen(const std::vector<std::string>& names) {
  std::vector<FamilyEntry> all;
  std::string known;
  for (const FamilyEntry& entry : attune::attention_families()) {
    known += (known.empty() ? "" : ", ") + entry.name;
    if (std::ranges::any_of(names, [&](const std::string& name) { return name == "all" || name == entry.name; }))
      all.push_back(entry);
  }
  for (const std::string& name : names)
    check_usage(name == "all" || std::ranges::any_of(all, [&](const FamilyEntry& e) { return e.name == name; }),
                "bench attention: there is no family \"{}\": expected all, or some of {}", name, known);
  return all;
}

nlohmann::ordered_json shared_members(const std::string& family, bool causal, bool backward) {
  return {{"bench", "attention"}, {"family", family}, {"causal", causal}, {"pass", backward ? "both" : "forward"}};
}

std::string name_of(const std::string& family, bool causal, bool backward) {
  return family + (causal ? "" : ", bidirectional") + (backward ? ", and backward" : "");
}

std::string exponent_text(const evaluate::Interval& e) {
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", e.value, e.low, e.high);
}

}  // namespace

std::string json_line(const FamilyCost& cost) {
  auto line = shared_members(cost.family, cost.causal, cost.backward);
  line["paper"] = cost.paper, line["tokens"] = cost.tokens, line["threads"] = cost.threads;
  if (cost.skipped.empty())
    line["ms"] = cost.ms, line["bytes"] = cost.bytes;
  else
    line["skipped"] = cost.skipped;
  return line.dump();
}

std::string json_line(const FamilyFit& fit) {
  auto line = shared_members(fit.family, fit.causal, fit.backward);
  line["fit"] = {fit.from, fit.to};
  line["ms_exponent"] = {fit.ms.exponent.value, fit.ms.exponent.low, fit.ms.exponent.high};
  if (fit.bytes)
    line["bytes_exponent"] = {fit.bytes->exponent.value, fit.bytes->exponent.low, fit.bytes->exponent.high};
  return line.dump();
}

std::string text_line(const FamilyCost& cost) {
  const std::string name = name_of(cost.family, cost.causal, cost.backward);
  if (!cost.skipped.empty()) return fmt::format("{:<42} {:>7} not measured: {}", name, cost.tokens, cost.skipped);
  return fmt::format("{:<42} {:>7} {:>11.2f} ms {:>10.1f} MB", name, cost.tokens, cost.ms, cost.bytes * 1e-6);
}

std::string text_line(const FamilyFit& fit) {
  std::string memory = fit.bytes ? ", bytes as tokens ^ " + exponent_text(fit.bytes->exponent) : "";
  return fmt::format("{}, {} to {} tokens: ms as tokens ^ {}{}\n", name_of(fit.family, fit.causal, fit.backward),
                     fit.from, fit.to, exponent_text(fit.ms.exponent), memory);
}

void attention_families(const FamilyOptions& options, const FamilyReport& report, const Run& run) {
  check(!options.lengths.empty() && options.budget > 0, "bench attention: give lengths, and a budget above 0");
  for (const FamilyEntry& entry : chosen(options.families))
    for (bool backward : {false, true}) {
      std::vector<FamilyCost> measured;
      for (std::int64_t tokens : options.lengths) {
        if (run.cancelled()) throw Cancelled("bench attention: stopped");
        FamilyCost cost{entry.name, entry.paper, entry.in_decoder, backward, tokens, num_threads()};
        cost.skipped = why_skipped(measured, tokens, options.budget);  // longer ones are predicted to take longer
        if (cost.skipped.empty()) {
          measure(entry, options.repeated, cost);
          measured.push_back(cost);
        }
        report.cost(cost);
      }
      if (!report.fit) continue;
      if (auto result = fit(measured)) report.fit(*result);
    }
}

}  // namespace attune::bench
