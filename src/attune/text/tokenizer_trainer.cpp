#include "attune/text/tokenizer_trainer.h"

#include <algorithm>
#include <map>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/text/byte_alphabet.h"
#include "attune/text/pair_merger.h"
#include "attune/text/tokenizer_parts.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr std::string_view continuing = "##";

const char* yes(bool flag) { return flag ? "true" : "false"; }

/// The file without vocabulary and merges, which stand for {vocab} and {merges}.
std::string describe(const TokenizerTraining& t, const StringTable& tokens, std::string_view vocab,
                     std::string_view merges) {
  const bool bpe = t.kind == TokenizerKind::byte_level_bpe;
  std::string json = R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":[)";
  for (std::size_t i = 0; i < t.special_tokens.size(); ++i)
    json += fmt::format(
        R"({}{{"id":{},"content":{},"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}})",
        i > 0 ? "," : "", tokens.find(t.special_tokens[i]), json_quoted(t.special_tokens[i]));
  json += "],\"normalizer\":";
  json += bpe ? "null"
              : fmt::format(R"({{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)"
                            R"("strip_accents":null,"lowercase":{}}})",
                            yes(t.lower_case));
  json += ",\"pre_tokenizer\":";
  json += bpe ? R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})"
              : R"({"type":"BertPreTokenizer"})";

  std::string single, pair, special;
  const auto put = [&](std::string& list, const std::string& token, int type) {
    if (token.empty()) return;
    list += fmt::format(R"({}{{"SpecialToken":{{"id":{},"type_id":{}}}}})", list.empty() ? "" : ",", json_quoted(token),
                        type);
  };
  const auto put_sequence = [&](std::string& list, char name, int type) {
    list += fmt::format(R"({}{{"Sequence":{{"id":"{}","type_id":{}}}}})", list.empty() ? "" : ",", name, type);
  };
  put(single, t.start_token, 0);
  put_sequence(single, 'A', 0);
  put(single, t.end_token, 0);
  pair = single;
  put_sequence(pair, 'B', 1);
  put(pair, t.end_token, 1);
  for (const std::string& token : {t.start_token, t.end_token}) {
    if (token.empty() || (token == t.end_token && token == t.start_token && !special.empty())) continue;
    special += fmt::format(R"({0}{1}:{{"id":{1},"ids":[{2}],"tokens":[{1}]}})", special.empty() ? "" : ",",
                           json_quoted(token), tokens.find(token));
  }
  const std::string framing = fmt::format(
      R"({{"type":"TemplateProcessing","single":[{}],"pair":[{}],"special_tokens":{{{}}}}})", single, pair, special);
  const std::string byte_level =
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true})";
  json += ",\"post_processor\":" + (special.empty() && bpe ? byte_level : framing);
  json += ",\"decoder\":";
  json += bpe ? R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})"
              : R"({"type":"WordPiece","prefix":"##","cleanup":true})";
  json += bpe ? R"(,"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,)"
                R"("end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"vocab":{)"
              : R"(,"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",)"
                R"("max_input_chars_per_word":100,"vocab":{)";
  json.append(vocab).append(bpe ? "},\"merges\":[" : "}").append(bpe ? merges : "").append(bpe ? "]}}" : "}}");
  return json;
}

std::string vocabulary_json(const StringTable& tokens) {
  std::string json;
  for (std::int32_t id = 0; id < tokens.size(); ++id)
    json += fmt::format("{}{}:{}", id > 0 ? "," : "", json_quoted(tokens[id]), id);
  return json;
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

  std::vector<std::pair<std::string, std::int64_t>> sorted(bool raw_bytes) const {
    std::vector<std::pair<std::string, std::int64_t>> list;
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
std::vector<char32_t> find_alphabet(const TokenizerTraining& training,
                                    const std::vector<std::pair<std::string, std::int64_t>>& words) {
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
  const bool bpe = training.kind == TokenizerKind::byte_level_bpe;
  std::vector<std::string>& special = training.special_tokens;
  if (special.empty()) {
    if (bpe) {
      special = {"<|endoftext|>"};
    } else {
      special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    }
  }
  const auto has = [&](const std::string& token) {
    return std::find(special.begin(), special.end(), token) != special.end();
  };
  if (!bpe && training.start_token.empty() && training.end_token.empty() && has("[CLS]") && has("[SEP]")) {
    training.start_token = "[CLS]";
    training.end_token = "[SEP]";
  }
  check(bpe || has("[UNK]"), "training a tokenizer: word_piece needs the special token [UNK]");
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

}  // namespace

Tokenizer train_tokenizer(const TokenizerTraining& wanted, const TextSource& texts, const Run& run) {
  const TokenizerTraining training = completed(wanted);
  const bool bpe = training.kind == TokenizerKind::byte_level_bpe;
  StringTable tokens;
  for (const std::string& token : training.special_tokens) tokens.add(token);

  // A tokenizer that only knows its alphabet splits the texts into words.
  StringTable first = tokens;
  for (int byte = 0; bpe && byte < 256; ++byte) {
    std::string letter;
    append_utf8(letter, byte_to_character(static_cast<unsigned char>(byte)));
    first.add(letter);
  }
  const Tokenizer bare =
      Tokenizer::parse(describe(training, first, vocabulary_json(first), ""), "a tokenizer to train");
  const WordCounts counts = count_words(bare.parts(), texts, run);
  const auto words = counts.sorted(bare.parts().raw_bytes);

  const std::vector<char32_t> alphabet = find_alphabet(training, words);
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
  const auto merges = merger.merge(training.vocab_size, training.min_frequency, run);
  std::string merges_json;
  if (bpe) {
    for (const auto& [a, b] : merges)
      merges_json +=
          fmt::format("{}[{},{}]", merges_json.empty() ? "" : ",", json_quoted(tokens[a]), json_quoted(tokens[b]));
  }
  return Tokenizer::parse(describe(training, tokens, vocabulary_json(tokens), merges_json), "a tokenizer just trained");
}

}  // namespace attune
