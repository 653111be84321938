#include "attune/text/tokenizer_trainer.h"
#include <algorithm>
#include <map>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/text/byte_alphabet.h"
#include "attune/text/pair_merger.h"
#include "attune/text/tokenizer_description.h"
#include "attune/text/tokenizer_parts.h"
#include "attune/text/unigram_trainer.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr std::string_view continuing = "##";

/// Without merges: WordPiece.
std::string model_json(const TokenizerTraining& training, const StringTable& tokens, const std::string& merges) {
  std::string json =
      training.kind == TokenizerKind::byte_level_bpe
          ? R"({"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,)"
            R"("end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"vocab":{)"
          : R"({"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",)"
            R"("max_input_chars_per_word":100,"vocab":{)";
  for (std::int32_t id = 0; id < tokens.size(); ++id)
    json += fmt::format("{}{}:{}", id > 0 ? "," : "", json_quoted(tokens[id]), id);
  return json + (training.kind == TokenizerKind::byte_level_bpe ? "},\"merges\":[" + merges + "]}" : "}}");
}

std::string unigram_json(const TokenizerTraining& training, const std::vector<ScoredToken>& tokens) {
  std::string json;
  for (const std::string& token : training.special_tokens)
    json += fmt::format("{}[{},0.0]", json.empty() ? "" : ",", json_quoted(token));
  const auto& special = training.special_tokens;
  for (const ScoredToken& token : tokens)  // a special token's text is found before the model sees it
    if (std::count(special.begin(), special.end(), token.text) == 0)
      json += fmt::format(",[{},{}]", json_quoted(token.text), token.score);
  const auto unknown = std::find(special.begin(), special.end(), unknown_token(training));
  return fmt::format(R"({{"type":"Unigram","unk_id":{},"vocab":[{}],"byte_fallback":false}})",
                     unknown - special.begin(), json);
}

/// Words and how often they came, in the order of their bytes.
struct WordCounts {
  StringTable words;
  std::vector<std::int64_t> counts;

  void add(std::string_view word) {
    const auto number = static_cast<std::size_t>(words.add(word));
    if (number == counts.size()) counts.push_back(0);
    ++counts[number];
  }

  std::vector<WordCount> sorted(bool raw_bytes) const {
    std::vector<WordCount> list;
    for (std::int32_t i = 0; i < words.size(); ++i) {
      std::string word;
      if (raw_bytes) {
        append_byte_characters(word, words[i]);
      } else {
        word = words[i];
      }
      list.push_back({std::move(word), counts[static_cast<std::size_t>(i)]});
    }
    std::sort(list.begin(), list.end());
    return list;
  }
};

WordCounts count_words(const Tokenizer::Parts& parts, const TextSource& texts, const Run& run) {
  WordCounts result;
  Pieces pieces;
  std::string text;
  std::int64_t number = 0, bytes = 0;
  while (texts(text)) {
    check_utf8(text, fmt::format("training a tokenizer: text {}", number));
    parts.split_for_training(text, pieces);
    for (const Piece& piece : pieces.list()) result.add(pieces.bytes(piece));
    bytes += static_cast<std::int64_t>(text.size());
    if (++number % 1024 == 0) {
      run.report({"counting words", bytes, 0, "bytes", ""});
      if (run.cancelled()) throw Cancelled("training the tokenizer was stopped");
    }
  }
  check(result.words.size() > 0, "training a tokenizer: {} texts hold no word; give it texts to learn from", number);
  return result;
}

/// The characters that become tokens: all of them, or the most frequent; for byte-level BPE all 256 and no others.
std::vector<char32_t> find_alphabet(const TokenizerTraining& training, const std::vector<WordCount>& words) {
  std::vector<char32_t> alphabet;
  if (training.kind == TokenizerKind::byte_level_bpe) {
    for (int byte = 0; byte < 256; ++byte) alphabet.push_back(byte_to_character(static_cast<unsigned char>(byte)));
  } else {
    std::map<char32_t, std::int64_t> counts;
    for (const auto& [word, count] : words)
      for (std::size_t i = 0; i < word.size();) counts[next_code_point(word, i)] += count;
    std::vector<std::pair<std::int64_t, char32_t>> ordered;
    for (const auto& [point, count] : counts) ordered.push_back({-count, point});
    std::sort(ordered.begin(), ordered.end());
    for (const auto& [count, point] : ordered)
      if (static_cast<std::int64_t>(alphabet.size()) < training.limit_alphabet) alphabet.push_back(point);
  }
  std::sort(alphabet.begin(), alphabet.end());
  return alphabet;
}

TokenizerTraining completed(TokenizerTraining training) {
  const bool word_piece = training.kind == TokenizerKind::word_piece;
  std::vector<std::string>& special = training.special_tokens;
  if (special.empty()) {
    if (training.kind == TokenizerKind::byte_level_bpe) {
      special = {"<|endoftext|>"};
    } else if (training.kind == TokenizerKind::unigram) {
      special = {"<pad>", "</s>", "<unk>"};
    } else {
      special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    }
  }
  const auto has = [&](const std::string& token) {
    return std::find(special.begin(), special.end(), token) != special.end();
  };
  if (word_piece && training.start_token.empty() && training.end_token.empty() && has("[CLS]") && has("[SEP]")) {
    training.start_token = "[CLS]";
    training.end_token = "[SEP]";
  }
  check(!word_piece || has("[UNK]"), "training a tokenizer: word_piece needs the special token [UNK]");
  check(training.kind != TokenizerKind::unigram || !unknown_token(training).empty(),
        "training a tokenizer: unigram needs the special token <unk> or [UNK]");
  for (const std::string& token : special) {
    check(!token.empty(), "training a tokenizer: a special token is empty");
    check_utf8(token, "training a tokenizer: a special token");
    check(std::count(special.begin(), special.end(), token) == 1,
          "training a tokenizer: the special token \"{}\" is given twice", token);
  }
  for (const std::string& token : {training.start_token, training.end_token})
    check(token.empty() || has(token), "training a tokenizer: \"{}\" is not among the special tokens", token);
  check(training.vocab_size >= 1 && training.vocab_size <= 10'000'000,
        "training a tokenizer: vocab_size is {}: expected 1 to 10000000", training.vocab_size);
  check(training.min_frequency >= 0, "training a tokenizer: min_frequency is {}: expected 0 or more",
        training.min_frequency);
  check(training.limit_alphabet >= 1, "training a tokenizer: limit_alphabet is {}: expected 1 or more",
        training.limit_alphabet);
  return training;
}

/// A tokenizer that only knows its alphabet, to split the texts into words.
Tokenizer bare_tokenizer(const TokenizerTraining& training, StringTable tokens) {
  if (training.kind == TokenizerKind::byte_level_bpe) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string letter;
      append_utf8(letter, byte_to_character(static_cast<unsigned char>(byte)));
      tokens.add(letter);
    }
  }
  const std::string model =
      training.kind == TokenizerKind::unigram ? unigram_json(training, {}) : model_json(training, tokens, "");
  return Tokenizer::parse(describe_tokenizer(training, tokens, model), "a tokenizer to train");
}

/// What lies between the characters that are not in the alphabet.
std::vector<WordCount> parts_in_alphabet(const std::vector<WordCount>& words, const std::vector<char32_t>& alphabet) {
  std::map<std::string, std::int64_t> parts;
  for (const auto& [word, count] : words) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t at = i;
      if (std::binary_search(alphabet.begin(), alphabet.end(), next_code_point(word, i))) continue;
      if (at > begin) parts[word.substr(begin, at - begin)] += count;
      begin = i;
    }
    if (begin < word.size()) parts[word.substr(begin)] += count;
  }
  return {parts.begin(), parts.end()};
}

std::string train_unigram_model(const TokenizerTraining& training, const std::vector<WordCount>& words,
                                const std::vector<char32_t>& alphabet, const Run& run) {
  const auto special = static_cast<std::int64_t>(training.special_tokens.size());
  check(special + static_cast<std::int64_t>(alphabet.size()) <= training.vocab_size,
        "training a tokenizer: vocab_size is {}, but special tokens and alphabet alone are {}; ask for more, or limit "
        "the alphabet",
        training.vocab_size, special + static_cast<std::int64_t>(alphabet.size()));
  return unigram_json(
      training, train_unigram(parts_in_alphabet(words, alphabet), {.vocab_size = training.vocab_size - special}, run));
}

/// BPE and WordPiece; `tokens` holds the special ones and gets the others.
std::string train_merged_model(const TokenizerTraining& training, const std::vector<WordCount>& words,
                               const std::vector<char32_t>& alphabet, StringTable& tokens, const Run& run) {
  const bool bpe = training.kind == TokenizerKind::byte_level_bpe;
  for (char32_t point : alphabet) {
    std::string letter;
    append_utf8(letter, point);
    tokens.add(letter);
  }
  std::vector<PairMerger::Word> symbols;
  symbols.reserve(words.size());
  for (const auto& [word, count] : words) {
    PairMerger::Word one{{}, count};
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t begin = i;
      if (!std::binary_search(alphabet.begin(), alphabet.end(), next_code_point(word, i))) continue;
      std::string letter(begin > 0 && !bpe ? continuing : "");
      letter.append(word, begin, i - begin);
      one.symbols.push_back(tokens.add(letter));
    }
    symbols.push_back(std::move(one));
  }
  check(tokens.size() <= training.vocab_size,
        "training a tokenizer: vocab_size is {}, but special tokens and alphabet alone are {}; ask for more, or limit "
        "the alphabet",
        training.vocab_size, tokens.size());

  PairMerger merger(tokens, std::move(symbols), bpe ? "" : std::string(continuing));
  std::string merges;
  for (const auto& [a, b] : merger.merge(training.vocab_size, training.min_frequency, run))
    merges += fmt::format("{}[{},{}]", merges.empty() ? "" : ",", json_quoted(tokens[a]), json_quoted(tokens[b]));
  return model_json(training, tokens, merges);
}

}  // namespace

TokenizerKind tokenizer_kind(std::string_view name) {
  if (name == "bpe") return TokenizerKind::byte_level_bpe;
  if (name == "wordpiece") return TokenizerKind::word_piece;
  check(name == "unigram", "a tokenizer of type \"{}\": expected bpe, wordpiece or unigram", name);
  return TokenizerKind::unigram;
}

Tokenizer train_tokenizer(const TokenizerTraining& wanted, const TextSource& texts, const Run& run) {
  const TokenizerTraining training = completed(wanted);
  StringTable tokens;
  for (const std::string& token : training.special_tokens) tokens.add(token);
  const Tokenizer bare = bare_tokenizer(training, tokens);
  const std::vector<WordCount> words = count_words(bare.parts(), texts, run).sorted(bare.parts().raw_bytes);
  const std::vector<char32_t> alphabet = find_alphabet(training, words);
  const std::string model = training.kind == TokenizerKind::unigram
                                ? train_unigram_model(training, words, alphabet, run)
                                : train_merged_model(training, words, alphabet, tokens, run);
  return Tokenizer::parse(describe_tokenizer(training, tokens, model), "a tokenizer just trained");
}

}  // namespace attune
