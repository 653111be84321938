#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/base/error_type.h"

/// What C++ programs include: #include <attune/attune.h>, find_package(Attune), and
/// target_link_libraries(... Attune::attune). It needs nothing but the standard library.
///
/// Texts are UTF-8; places in them count Unicode code points, their end is exclusive. `tokens` counts what the model
/// read. Every failure is an Error. Nothing is printed, nothing goes to the network, no text is cut: one that is longer
/// than the model takes is an Error with both numbers, unless the model's contract or the call says otherwise.
/// A result is the one that the command of the same name gives. It depends neither on the texts beside it in a call nor
/// on the number of threads.
///
/// Threads: models may be opened, and one model called, from any number of threads at once. At any time one of these
/// calls computes with all threads (use_threads), the others each with their own. Only moving or destroying a model
/// needs that nobody is calling it.
#define ATTUNE_PUBLIC __attribute__((visibility("default")))
#define ATTUNE_PRIVATE __attribute__((visibility("hidden")))

namespace attune {

/// What to do with a text beyond the longest input.
enum class LongTexts {
  as_model_says,  // its contract; without one they are refused
  refuse,
  chunk,   // read in pieces
  stride,  // in pieces that overlap; tagging and answering alone
};

struct EmbedSettings {
  std::optional<std::string> prompt_name = {};  // of the model's prompts ("query"); none: its default, if any
  std::optional<std::string> prompt = {};       // or the text itself, put before every text
  std::optional<std::string> pooling = {};      // "cls", "mean", ... in place of the model's
  std::optional<bool> normalize = {};           // to length 1; in place of what the model says
  LongTexts long_texts = LongTexts::as_model_says;
};
struct Embedded {
  std::vector<float> values;  // as many of every text
  std::int64_t tokens = 0, chunks = 1;
};

struct Labelled {
  std::string label;
  double confidence = 0;                               // 0 to 1, calibrated where the model was
  std::vector<std::pair<std::string, double>> scores;  // of every label, in the model's order; they sum to 1
  std::optional<double> novelty;                       // higher is stranger; none where the model was not calibrated
  bool automatic = false;                              // false: a person should look at it, for these reasons
  std::vector<std::string> reasons;                    // "low_confidence", "novel", "not_calibrated", ...
  std::vector<std::string> explained;                  // the same in words with numbers
  std::int64_t tokens = 0, chunks = 1;
};

struct TagSettings {
  std::string grouping = "simple";  // or "first", "average", "max": how a word's tokens agree
  LongTexts long_texts = LongTexts::as_model_says;
};
struct Tagged {
  struct Entity {
    std::string label;  // without B- and I-
    std::string text;
    std::int64_t begin = 0, end = 0;  // code points
    double score = 0;                 // 0 to 1
  };
  std::vector<Entity> entities;  // in the order of the text
  std::int64_t tokens = 0, chunks = 1;
};

struct AnswerSettings {
  std::int64_t most_tokens = 30;  // of an answer
  bool may_have_none = false;     // the text may hold no answer (models of SQuAD 2)
  LongTexts long_texts = LongTexts::as_model_says;
};
struct Answered {
  std::string text;                 // as it stands in the text; empty: none
  std::int64_t begin = 0, end = 0;  // code points
  double score = 0;                 // 0 to 1
  std::int64_t tokens = 0, chunks = 1;
};

/// What is not given is as the model's files say, and else as it stands here.
struct WriteSettings {
  std::optional<std::int64_t> max_tokens = {};    // 256
  std::optional<double> temperature = {};         // 0: the most probable token each time
  std::optional<std::int64_t> top_k = {};         // 0: all
  std::optional<double> top_p = {}, min_p = {};   // 1 and 0: all
  std::optional<double> repetition_penalty = {};  // 1: none
  std::optional<std::int64_t> beams = {};         // 1; above: beam search, without sampling
  std::vector<std::string> stop = {};             // texts before which the result ends
  std::uint64_t seed = 0;                         // of sampling: the same seed writes the same text
};
struct Written {
  std::string text;           // the continuation alone
  std::string finish_reason;  // "stop" or "length"
  std::int64_t tokens = 0, generated_tokens = 0;
};
/// Is told each piece of a text as it is written: whole characters; the pieces together are the text. What it throws
/// ends the call and comes out of it.
using OnText = std::function<void(std::string_view piece)>;

/// What is not given is as the model's files say, and else as it stands here.
struct TranslateSettings {
  std::optional<std::int64_t> max_tokens = {};  // 512
  std::optional<std::int64_t> beams = {};       // 4
  /// Of a multilingual model: what the texts are in and what they are to become, by its own names ("fr", "fra_Latn").
  std::optional<std::string> source_language = {}, target_language = {};
};
struct Translated {
  std::string text;
  double score = 0;  // log-probability of its tokens, by their number
  /// Words that belong together: number of the source's and of the text's word, from 0.
  std::vector<std::pair<std::int64_t, std::int64_t>> alignment;
  std::string finish_reason;  // "stop", or "length": unfinished
  std::int64_t tokens = 0, generated_tokens = 0;
};

/// A published or trained model, opened once and used by any number of calls. No texts give no results.
class ATTUNE_PUBLIC LoadedModel {
 public:
  /// A directory in the published layout, or a .gguf file. Throws Error where something is missing, damaged, or asks
  /// for what Attune does not do.
  static LoadedModel open(const std::filesystem::path& model);
  LoadedModel(LoadedModel&&) noexcept;
  LoadedModel& operator=(LoadedModel&&) noexcept;
  ~LoadedModel();

  /// What config.json calls it: "bert", "llama", ...
  const std::string& model_type() const;
  /// Which of the functions below it has: "embed", "classify", "tag", "answer", "generate", "translate". The others
  /// throw Error that says what it can do.
  std::vector<std::string> abilities() const;
  /// Of a classifier or a tagger, by class number; else none.
  std::vector<std::string> labels() const;
  /// Tokens that it reads (and writes) at most, special ones included; none: there is no bound.
  std::optional<std::int64_t> longest() const;
  /// As the model counts them, special ones included.
  std::int64_t count_tokens(std::string_view text) const;

  /// Results are one for each text, in their order. An Error names the text by its number from 1.
  std::vector<Embedded> embed(const std::vector<std::string>& texts, const EmbedSettings& settings = {}) const;
  std::vector<Labelled> classify(const std::vector<std::string>& texts,
                                 LongTexts long_texts = LongTexts::as_model_says) const;
  std::vector<Tagged> tag(const std::vector<std::string>& texts, const TagSettings& settings = {}) const;
  /// The part of each text that answers the question.
  std::vector<Answered> answer(const std::string& question, const std::vector<std::string>& texts,
                               const AnswerSettings& settings = {}) const;
  /// Continues a prompt, which is taken as it is; an empty one is the model's begin token.
  Written generate(const std::string& prompt, const WriteSettings& settings = {}, const OnText& on_text = {}) const;
  std::vector<Translated> translate(const std::vector<std::string>& texts,
                                    const TranslateSettings& settings = {}) const;

 private:
  struct ATTUNE_PRIVATE Parts;
  explicit LoadedModel(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

/// Threads that all calls compute with; at first, and with 0, as many as this process may use cores. Waits for the call
/// that computes with them now.
ATTUNE_PUBLIC void use_threads(int threads);

/// Where warnings go, from then on and from whatever thread they arise in: what a model's files ask for and Attune does
/// not do. Without a sink they are dropped.
ATTUNE_PUBLIC void tell_warnings(std::function<void(const std::string& warning)> sink);

/// "0.1.0"
ATTUNE_PUBLIC std::string version();

}  // namespace attune
