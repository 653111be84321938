#include "attune/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "attune/base/usage_error.h"
#include "attune/bench/attention.h"
#include "attune/bench/attention_cases.h"
#include "attune/bench/decoding_attention.h"
#include "attune/bench/encoding.h"
#include "attune/bench/generation.h"
#include "attune/bench/matmul.h"
#include "attune/bench/model_generation.h"
#include "attune/bench/quantised_matmul.h"
#include "attune/bench/tokenization.h"
#include "attune/bench/training.h"
#include "attune/bench/translation.h"

namespace attune::bench {

void check_case(const Bench& bench, const std::string& only) {
  if (std::ranges::any_of(bench.cases, [&](const std::string& name) { return name.find(only) != std::string::npos; }))
    return;
  throw UsageError(fmt::format("bench {}: no case has \"{}\" in its name: they are {}", bench.name, only,
                               fmt::join(bench.cases, "; ")));
}

Bench with_model(const Bench& bench) {
  check_usage(static_cast<bool>(bench.run_model), "bench {}: it takes no model's files: leave --model out", bench.name);
  return {bench.name, bench.title, bench.model_cases, bench.run_model};
}

const std::vector<Bench>& benches() {
  static const std::vector<Bench> all = {
      {"matmul", "f32 matrix products M x N x K, beside the rate of plain multiply-adds or of reading memory",
       matmul_names(), matmul},
      {"quantised",
       "matrix products with weights in 4 to 8 bits, beside the rate of plain products of bytes or of reading",
       quantised_matmul_names(), quantised_matmul},
      {"attention", "self-attention of 12 heads of 64, beside the rate of plain multiply-adds", attention_names(),
       attention, write_attention_cases},
      {"train",
       "two trainings beside the rate of plain multiply-adds and the least memory of AdamW",
       {"gpt2", "classifier"},
       training,
       write_training_cases},
      {"decode", "attention of one token over 8192 cached ones, beside the rate of reading memory",
       decoding_attention_names(), decoding_attention},
      {"encode", "1,000 ragged documents to vectors, MiniLM-L6's sizes, beside the rate of plain multiply-adds",
       encoding_names(), encoding, write_encoding_cases},
      {"generate",
       "decoding with a cache, beside the rate of reading the weights",
       generation_names(),
       generation,
       {},
       model_generation,
       model_generation_names()},
      {"translate", "beam search with a Marian of the base size, beside the rate of plain multiply-adds",
       translation_names(), translation, write_translation_case},
      {"tokenize", "texts to token ids with tokenizers of each kind, beside the rate of reading memory",
       tokenization_names(), tokenization, write_tokenization_cases},
  };
  return all;
}

}  // namespace attune::bench
