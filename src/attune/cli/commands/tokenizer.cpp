#include <fmt/core.h>

#include "attune/base/error.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune {

namespace {

struct TrainTokenizerArguments {
  bool chosen = false;
  std::string type = "bpe", output, text_field = "text";
  std::vector<std::string> input;
  bool keep_case = false;
  std::optional<std::int64_t> min_frequency;
  TokenizerTraining training;
};

/// The texts of several files in turn; one file is in memory at a time.
class FileTexts {
 public:
  FileTexts(const std::vector<std::string>& files, DocumentFormat format) : files_(files), format_(std::move(format)) {}
  bool next(std::string& text) {
    while (at_ == documents_.items.size()) {
      if (file_ == files_.size()) return false;
      documents_ = read_data(files_[file_++], format_);
      at_ = 0;
    }
    text = std::move(documents_.items[at_++].text);
    return true;
  }

 private:
  const std::vector<std::string>& files_;
  DocumentFormat format_;
  Documents documents_;
  std::size_t file_ = 0, at_ = 0;
};

int run_train(const TrainTokenizerArguments& a, const Session& session) {
  check_usage(!a.keep_case || a.type == "wordpiece",
              "--keep-case is of --type wordpiece: {} tells upper from lower case anyway", a.type);
  check_usage(!a.min_frequency || a.type != "unigram", "--min-frequency is not of --type unigram: leave it out");
  TokenizerTraining training = a.training;
  training.kind = tokenizer_kind(a.type);
  if (a.min_frequency) training.min_frequency = *a.min_frequency;
  training.lower_case = !a.keep_case;
  FileTexts texts(a.input, {.text_field = a.text_field, .empty_text = true});
  Tokenizer tokenizer = train_tokenizer(
      training, [&](std::string& text) { return texts.next(text); }, session.run);
  make_directories(a.output);
  Path file = Path(a.output) / "tokenizer.json";
  tokenizer.save(file);
  fmt::print("{} tokens in {}\n", tokenizer.size(), file.string());
  return 0;
}

}  // namespace

Command tokenizer_command() {
  const char* example = "attune tokenizer train --type bpe --vocab-size 8000 --input corpus.jsonl --output tokenizer";
  return {
      "tokenizer", "Data", "train: makes a tokenizer.json from texts", example,
      [example](Arguments& arguments) -> Action {
        auto a = std::make_shared<TrainTokenizerArguments>();
        Arguments train = arguments.subcommand("train", "makes a tokenizer.json from texts", example, a->chosen);
        train.choice("--type", a->type, {"bpe", "wordpiece", "unigram"},
                     "byte-level BPE (GPT-2), WordPiece (BERT) or Unigram (T5)");
        train.option("--vocab-size", a->training.vocab_size, "tokens, special ones and the alphabet included",
                     {.at_least = 1, .at_most = 10'000'000});
        train.required("--input", a->input, "files of texts (JSON lines; .csv, .tsv, .txt by their ending)");
        train.required("--output", a->output, "directory to write tokenizer.json to");
        train.option("--text-field", a->text_field, "the field that holds the text");
        train.option("--min-frequency", a->min_frequency,
                     "of two tokens together, to become one (not for unigram); else 2", {.at_least = 0});
        train.option(
            "--special-tokens", a->training.special_tokens,
            "the first ids, in this order; else <|endoftext|>, or [PAD] [UNK] [CLS] [SEP] [MASK], or <pad> </s> <unk>",
            true);
        train.flag("--keep-case", a->keep_case, "wordpiece: tell upper from lower case, and keep accents");
        return [a](const Session& session) { return run_train(*a, session); };
      }};
}

}  // namespace attune
