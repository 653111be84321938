// What each name stands for: the pre-tokenizers of the tokenizer.json that the model of that name was published with.
#include "attune/bundle/gguf_pre_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/base/json.h"

namespace attune {

namespace {

std::string split(const char* pattern) {
  return fmt::format(R"({{"type":"Split","pattern":{{"Regex":{}}},"behavior":"Isolated","invert":false}})",
                     json_quoted(pattern));
}
std::string byte_level(bool own_pattern) {
  return fmt::format(R"({{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":{}}})",
                     own_pattern);
}
std::string digits(bool one_by_one) { return fmt::format(R"({{"type":"Digits","individual_digits":{}}})", one_by_one); }

constexpr const char* gpt2_words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* llama3_words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* qwen2_words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* tekken_words = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                                     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                                     R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* gpt4o_words =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* deepseek_words =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* bloom_words = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";

std::vector<GgufPreTokenizer> all_pre_tokenizers() {
  const std::string bytes = byte_level(false), words = byte_level(true);
  return {
      {.names = {"gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat", "trillion",
                 "granite-docling", "jais"},
       .steps = {words}},
      {.names = {"roberta-bpe"}, .steps = {words}, .adds_bos = true, .adds_eos = true},
      {.names = {"mpt", "olmo", "modern-bert"}, .steps = {words}, .nfc = true},
      {.names = {"smollm", "starcoder", "refact", "codeshell", "exaone", "minerva-7b", "mellum"},
       .steps = {digits(true), words}},
      {.names = {"command-r"}, .steps = {digits(true), words}, .nfc = true},
      {.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "lfm2", "midm-2.0"},
       .steps = {split(llama3_words), bytes},
       .ignore_merges = true,
       .adds_bos = true},
      {.names = {"dbrx", "smaug-bpe", "chatglm-bpe", "glm4"}, .steps = {split(llama3_words), bytes}},
      {.names = {"qwen2", "deepseek-r1-qwen", "megrez"}, .steps = {split(qwen2_words), bytes}, .nfc = true},
      {.names = {"stablelm2", "hunyuan", "grok-2"}, .steps = {split(qwen2_words), bytes}},
      {.names = {"tekken"}, .steps = {split(tekken_words), bytes}, .ignore_merges = true, .adds_bos = true},
      {.names = {"gpt-4o", "llama4"}, .steps = {split(gpt4o_words), bytes}},
      {.names = {"deepseek-v3"},
       .steps = {split(R"(\p{N}{1,3})"), split("[一-龥぀-ゟ゠-ヿ]+"), split(deepseek_words), bytes}},
      {.names = {"deepseek-coder"},
       .steps = {split(R"([\r\n])"), split(R"(\s?\p{L}+)"), split(R"(\s?\p{P}+)"), split("[一-龥ࠀ-一가-퟿]+"),
                 digits(true), bytes}},
      {.names = {"falcon"},
       .steps = {R"({"type":"Punctuation","behavior":"Contiguous"})", words, digits(false), split("[0-9][0-9][0-9]")}},
      {.names = {"bloom", "poro-chat", "gpt3-finnish"}, .steps = {split(bloom_words), bytes}},
      {.names = {"viking"}, .steps = {split(bloom_words), digits(true), bytes}},
      // What llama.cpp does to files that name nothing.
      {.names = {"default"},
       .steps = {split(R"([\p{P}\$\+<=>\^~\|]+)"), split(gpt2_words), split(R"(\p{N}+)"), split("[0-9][0-9][0-9]"),
                 bytes}},
  };
}

}  // namespace

const std::vector<GgufPreTokenizer>& gguf_pre_tokenizers() {
  static const std::vector<GgufPreTokenizer> all = all_pre_tokenizers();
  return all;
}

const GgufPreTokenizer& gguf_pre_tokenizer(const std::string& name) {
  std::string known;
  for (const GgufPreTokenizer& one : gguf_pre_tokenizers()) {
    if (std::ranges::find(one.names, name) != one.names.end()) return one;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", fmt::join(one.names, ", "));
  }
  fail("\"tokenizer.ggml.pre\" is \"{}\": this program knows {}", name, known);
}

}  // namespace attune
