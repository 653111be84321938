#include "attune/bench/attention_cases.h"

#include <fmt/core.h>

#include <bit>
#include <numeric>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/ops/attention_masks.h"

namespace attune::bench {

namespace {

/// Number of (query, key) pairs that a mask leaves of one sequence.
double pairs(const AttentionMask& mask, std::int64_t length) {
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const QuerySpan query = {0, i, 1, length};
    const KeySpan keys = mask.reach(query);
    for (std::int64_t block = keys.begin / 64 * 64; block < keys.end; block += 64)
      seen += std::popcount(mask.bits(query, block));
  }
  return static_cast<double>(seen);
}

/// With each of them also with the backward pass.
void add_both(std::vector<AttentionCase>& all, AttentionCase one) {
  all.push_back(one);
  one.name += " and backward", one.backward = true;
  all.push_back(one);
}

std::vector<std::int64_t> document_lengths() {
  RandomStream random(RandomKey{.seed = 1}.at("lengths"));
  std::vector<std::int64_t> lengths(32);
  for (std::int64_t& length : lengths) length = 20 + random.below(481);
  return lengths;
}

}  // namespace

AttentionMask AttentionCase::rule_mask() const {
  if (mask == "causal") return causal();
  if (mask == "window") return window(window_side, window_side);
  if (mask == "longformer") return longformer(longformer_side, longformer_globals);
  check(mask == "bidirectional", "bench attention: there is no mask {}", mask);
  return bidirectional();
}

std::int64_t AttentionCase::tokens() const { return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}); }

double AttentionCase::operations() const {
  double seen = 0;
  for (std::int64_t length : lengths) {
    const auto n = static_cast<double>(length);
    seen += mask == "bidirectional" ? n * n : mask == "causal" ? n * (n + 1) / 2 : pairs(rule_mask(), length);
  }
  return (backward ? 7 : 2) * 2 * seen * static_cast<double>(heads * head_dim);
}

double AttentionCase::result_bytes() const {
  return static_cast<double>((backward ? 4 : 1) * 4 * tokens() * heads * head_dim);
}

std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> all;
  for (std::int64_t n : {512, 1024, 2048, 4096, 8192, 16384})
    for (const char* mask : {"causal", "bidirectional"})
      add_both(all, {.name = fmt::format("{} {}", n, mask), .lengths = {n}, .mask = mask});
  add_both(all, {.name = "32 ragged of 20-500", .lengths = document_lengths()});
  add_both(all, {.name = "16384 window 256", .lengths = {16384}, .mask = "window"});
  add_both(all, {.name = "4096 longformer", .lengths = {4096}, .mask = "longformer"});
  add_both(all, {.name = "2048 t5 bias", .lengths = {2048}, .scores = "t5", .memory = true});
  add_both(all, {.name = "2048 alibi", .lengths = {2048}, .mask = "causal", .scores = "alibi", .memory = true});
  add_both(all, {.name = "2048 deberta bias", .lengths = {2048}, .scores = "deberta", .memory = true});
  all.push_back({.name = "131072 causal and backward",
                 .lengths = {131072},
                 .mask = "causal",
                 .backward = true,
                 .memory = true,
                 .long_ = true,
                 .heads = 4});
  return all;
}

void write_attention_cases(const Path& directory) {
  write_directory_atomically(directory, [](const Path& inside) {
    std::string lines;
    for (const AttentionCase& one : attention_cases()) {
      nlohmann::ordered_json line;
      line["case"] = one.name;
      line["lengths"] = one.lengths;
      line["heads"] = one.heads;
      line["head_dim"] = one.head_dim;
      line["mask"] = one.mask;
      line["scores"] = one.scores;
      line["backward"] = one.backward;
      line["memory"] = one.memory;
      line["operations"] = one.operations();
      lines += line.dump() + "\n";
    }
    write_file_atomically(inside / "cases.jsonl", lines);
  });
}

}  // namespace attune::bench
