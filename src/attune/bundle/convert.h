#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/checkpoint/gguf.h"

namespace attune {

/// What rounding weights to int8 left out: root of the mean of squares over the values'.
struct RoundingReport {
  double mean = 0, worst = 0;  // over the matrices
  std::string worst_name;
};

/// A type that weights are written in, by its name on the command line: f32, f16, bf16, q8_0, q4_0, q4_1, q4_k, q5_k,
/// q6_k. Throws Error, listing them, for any other.
GgufFormat written_format(const std::string& name);

struct ConvertReport {
  std::int64_t tensors = 0;
  std::vector<std::string> left_out;  // weights that the target has no place for: BERT's pooler in a GGUF file
  std::optional<RoundingReport> rounding = {};
  std::vector<std::string> other_types;  // "NAME (Q8_0)": matrices whose rows are no whole blocks of the type asked for
};

/// Writes a model directory as a GGUF file, whole or not at all. Matrices are written in `format`; vectors, positions
/// and the weights of routers in f32; with a 4- or 5-bit format, the output layer (or the embeddings that are it) in
/// Q6_K; a matrix whose rows are no whole blocks in Q8_0 or f16. Throws Error for a model, a setting, a tokenizer or a
/// weight that GGUF has no place for, before anything is written.
ConvertReport convert_to_gguf(const Path& directory, const Path& file, const GgufFormat& format, const Run& run = {});

/// Writes a GGUF file as a model directory that Hugging Face transformers reads, whole or not at all: config.json,
/// model.safetensors with all weights in `type`, tokenizer.json, tokenizer_config.json.
ConvertReport convert_to_directory(const Path& file, const Path& directory, DType type, const Run& run = {});

/// Writes a model directory anew with its weights in `type`, or with none given the linear layers in int8 as
/// compressed-tensors' W8A8 has them (models/quantization.h) and the others as they are; whole or not at all, and with
/// all other files that tell of the model: tokenizer, template, contract, sentence-transformers' modules. Throws Error
/// for a model of which GPT-2's [in, out] matrices should be in int8, or all are already.
ConvertReport convert_directory(const Path& source, const Path& target, std::optional<DType> type, const Run& run = {});

}  // namespace attune
