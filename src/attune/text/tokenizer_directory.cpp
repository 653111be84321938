#include <algorithm>
#include <map>

#include "attune/base/json.h"
#include "attune/text/json_view.h"
#include "attune/text/sentencepiece_directory.h"
#include "attune/text/tokenizer.h"
#include "attune/text/tokenizer_settings.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string special_tokens(const std::map<std::int64_t, std::pair<std::string, bool>>& by_id) {
  std::string json;
  for (const auto& [id, token] : by_id)
    json += fmt::format(
        R"({}{{"id":{},"content":{},"single_word":false,"lstrip":{},"rstrip":false,"normalized":false,"special":true}})",
        json.empty() ? "" : ",", id, json_quoted(token.first), token.second);
  return json;
}

/// BERT's: vocab.txt has a token a line, the line number from 0 is its id.
Tokenizer open_bert(const Path& directory) {
  const Path file = directory / "vocab.txt";
  const std::string text = read_file(file);
  check_utf8(text, "reading " + file.string());
  const TokenizerSettings settings(directory);
  if (!settings.flag("do_basic_tokenize", true))
    settings.json().at("do_basic_tokenize").reject("BERT's tokenizer without its basic tokenizer is not supported");
  std::map<std::string_view, std::int64_t> ids;
  std::string vocabulary;
  for (std::string_view line : lines_of(text)) {
    const auto id = static_cast<std::int64_t>(ids.size());
    check(ids.emplace(line, id).second, "reading {}: line {}: the token \"{}\" stands there twice", file.string(),
          id + 1, line);
    vocabulary += fmt::format("{}{}:{}", id > 0 ? "," : "", json_quoted(line), id);
  }
  std::map<std::int64_t, std::pair<std::string, bool>> special;
  const auto special_id = [&](std::string_view key, const char* usual, bool needed) {
    const std::string token = settings.token(key, usual);
    const auto found = ids.find(token);
    check(found != ids.end() || !needed, "reading {}: the token \"{}\" ({}) is missing", file.string(), token, key);
    if (found == ids.end()) return std::pair<std::string, std::int64_t>(token, -1);
    special[found->second] = {token, false};
    return std::pair<std::string, std::int64_t>(token, found->second);
  };
  const auto start = special_id("cls_token", "[CLS]", true);
  const auto separator = special_id("sep_token", "[SEP]", true);
  const auto unknown = special_id("unk_token", "[UNK]", true);
  special_id("pad_token", "[PAD]", false);
  special_id("mask_token", "[MASK]", false);

  const bool lower = settings.flag("do_lower_case", true);
  const std::string accents = settings.has("strip_accents") ? settings.json().at("strip_accents").text() : "null";
  const std::string cls = json_quoted(start.first), sep = json_quoted(separator.first);
  const auto piece = [](const std::string& name, int type) {
    return fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}})", name, type);
  };
  const auto sequence = [](char name, int type) {
    return fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}})", name, type);
  };
  const auto entry = [](const std::string& name, std::int64_t id) {
    return fmt::format(R"({0}:{{"id":{0},"ids":[{1}],"tokens":[{0}]}})", name, id);
  };
  const std::string single = piece(cls, 0) + "," + sequence('A', 0) + "," + piece(sep, 0);
  return Tokenizer::parse(
      fmt::format(
          R"({{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{}],"normalizer":{{"type":"BertNormalizer",)"
          R"("clean_text":true,"handle_chinese_chars":{},"strip_accents":{},"lowercase":{}}},)"
          R"("pre_tokenizer":{{"type":"BertPreTokenizer"}},"post_processor":{{"type":"TemplateProcessing","single":[{}],)"
          R"("pair":[{},{},{}],"special_tokens":{{{},{}}}}},"decoder":{{"type":"WordPiece","prefix":"##","cleanup":true}},)"
          R"("model":{{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":"##","max_input_chars_per_word":100,)"
          R"("vocab":{{{}}}}}}})",
          special_tokens(special), settings.flag("tokenize_chinese_chars", true), accents, lower, single, single,
          sequence('B', 1), piece(sep, 1), entry(cls, start.second), entry(sep, separator.second),
          json_quoted(unknown.first), vocabulary),
      file.string());
}

/// GPT-2's and RoBERTa's: vocab.json and merges.txt. RoBERTa frames with <s> and </s>.
Tokenizer open_gpt2(const Path& directory) {
  const Path vocabulary_file = directory / "vocab.json", merges_file = directory / "merges.txt";
  const std::string vocabulary = read_file(vocabulary_file), merges_text = read_file(merges_file);
  check_utf8(merges_text, "reading " + merges_file.string());
  const TokenizerSettings settings(directory);
  std::string merges;
  std::int64_t number = 0;
  for (std::string_view line : lines_of(merges_text)) {
    ++number;
    if (line.starts_with("#version") || line.empty()) continue;
    check(std::count(line.begin(), line.end(), ' ') == 1,
          "reading {}: line {}: \"{}\": expected two tokens with one space between", merges_file.string(), number,
          line);
    merges += (merges.empty() ? "" : ",") + json_quoted(line);
  }
  const JsonView ids = JsonView::parse(vocabulary, vocabulary_file.string());
  const std::string kind = settings.text("tokenizer_class");
  const bool framed = kind.empty() ? ids.has_key("<s>") && ids.has_key("</s>")
                                   : !kind.starts_with("GPT2") && !kind.starts_with("CodeGen");
  std::map<std::int64_t, std::pair<std::string, bool>> special;
  const auto special_id = [&](std::string_view key, const char* usual, bool needed) {
    const std::string token = settings.token(key, usual);
    if (!ids.has_key(token)) {
      check(!needed, "reading {}: the token \"{}\" ({}) is missing", vocabulary_file.string(), token, key);
      return std::string();
    }
    const std::int64_t id = ids.at(token).integer(0, 0x7FFFFFFF);
    special[id] = {token, key == "mask_token"};  // RoBERTa's mask takes the space before it
    return fmt::format("[{},{}]", json_quoted(token), id);
  };
  const bool prefix = settings.flag("add_prefix_space", false);
  std::string post_processor = R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true})";
  if (framed) {
    const std::string sep = special_id("sep_token", "</s>", true), cls = special_id("cls_token", "<s>", true);
    special_id("unk_token", "<unk>", false);
    special_id("pad_token", "<pad>", false);
    special_id("mask_token", "<mask>", false);
    post_processor =
        fmt::format(R"({{"type":"RobertaProcessing","sep":{},"cls":{},"trim_offsets":true,"add_prefix_space":{}}})",
                    sep, cls, prefix);
  } else {
    check(!settings.flag("add_bos_token", false),
          "reading {}: add_bos_token is not supported without a tokenizer.json; save the tokenizer with transformers",
          (directory / "tokenizer_config.json").string());
    for (const char* key : {"bos_token", "eos_token", "unk_token"}) special_id(key, "<|endoftext|>", false);
  }
  return Tokenizer::parse(
      fmt::format(
          R"({{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{}],"normalizer":null,)"
          R"("pre_tokenizer":{{"type":"ByteLevel","add_prefix_space":{},"trim_offsets":true,"use_regex":true}},)"
          R"("post_processor":{},"decoder":{{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,)"
          R"("use_regex":true}},"model":{{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,)"
          R"("end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"vocab":{},"merges":[{}]}}}})",
          special_tokens(special), prefix, post_processor, vocabulary, merges),
      vocabulary_file.string());
}

}  // namespace

bool Tokenizer::is_in(const Path& directory) {
  if (!sentencepiece_file_in(directory).empty()) return true;
  for (const char* name : {"tokenizer.json", "vocab.txt", "vocab.json"})
    if (std::filesystem::exists(directory / name)) return true;
  return false;
}

Tokenizer Tokenizer::open(const Path& path) {
  if (!std::filesystem::is_directory(path)) {
    const bool pieces = path.extension() == ".model" || path.extension() == ".spm";
    return pieces ? open_sentencepiece(path) : parse(read_file(path), path.string());
  }
  if (const Path file = path / "tokenizer.json"; std::filesystem::exists(file))
    return parse(read_file(file), file.string());
  if (!sentencepiece_file_in(path).empty()) return open_sentencepiece_directory(path);
  if (std::filesystem::exists(path / "vocab.txt")) return open_bert(path);
  if (std::filesystem::exists(path / "vocab.json") && std::filesystem::exists(path / "merges.txt"))
    return open_gpt2(path);
  fail(
      "opening the tokenizer in {}: found neither tokenizer.json, nor tokenizer.model, spiece.model or source.spm, "
      "nor vocab.txt, nor vocab.json with merges.txt",
      path.string());
}

}  // namespace attune
