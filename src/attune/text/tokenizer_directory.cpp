#include <algorithm>
#include <map>
#include <set>

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

[[noreturn]] void reject_class(const Path& file, const std::string& name) {
  fail(
      "opening the tokenizer in {}: {} is not supported with {}: save the tokenizer with transformers, which writes "
      "tokenizer.json",
      file.parent_path().string(), name, file.filename().string());
}

std::string post_entry(const std::string& token, std::int64_t id) {
  return fmt::format(R"({0}:{{"id":{0},"ids":[{1}],"tokens":[{0}]}})", json_quoted(token), id);
}

/// ESM's: every token of vocab.txt is one wherever it stands in a text, spaces or not; other words are unknown.
Tokenizer open_esm(const Path& directory, const TokenizerSettings& settings) {
  const Path file = directory / "vocab.txt";
  const std::string text = read_file(file);
  check_utf8(text, "reading " + file.string());
  std::map<std::string, std::int64_t> ids;
  std::string vocabulary, added;
  const std::string start = settings.token("cls_token", "<cls>"), end = settings.token("eos_token", "<eos>"),
                    unknown = settings.token("unk_token", "<unk>");
  const std::set<std::string> special = {start, end, unknown, settings.token("pad_token", "<pad>"),
                                         settings.token("mask_token", "<mask>")};
  for (std::string_view line : lines_of(text)) {
    const std::size_t begin = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
    const std::string token(begin == std::string_view::npos ? "" : line.substr(begin, last + 1 - begin));
    const auto id = static_cast<std::int64_t>(ids.size());
    check(!token.empty() && ids.emplace(token, id).second, "reading {}: line {}: \"{}\" is empty or stands there twice",
          file.string(), id + 1, token);
    const char* comma = id > 0 ? "," : "";
    vocabulary += fmt::format("{}{}:{}", comma, json_quoted(token), id);
    added += fmt::format(
        R"({}{{"id":{},"content":{},"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":{}}})",
        comma, id, json_quoted(token), special.count(token) > 0);
  }
  for (const std::string& token : {start, end, unknown})
    check(ids.count(token) > 0, "reading {}: the token \"{}\" is missing", file.string(), token);
  const auto piece = [](const std::string& token) {
    return fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":0}}}})", json_quoted(token));
  };
  const auto sequence = [](char name) { return fmt::format(R"({{"Sequence":{{"id":"{}","type_id":0}}}})", name); };
  const std::string single = piece(start) + "," + sequence('A') + "," + piece(end);
  return Tokenizer::parse(
      fmt::format(
          R"({{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{}],"normalizer":null,)"
          R"("pre_tokenizer":{{"type":"WhitespaceSplit"}},"post_processor":{{"type":"TemplateProcessing","single":[{}],)"
          R"("pair":[{},{},{}],"special_tokens":{{{},{}}}}},"decoder":null,"model":{{"type":"WordLevel","unk_token":{},)"
          R"("vocab":{{{}}}}}}})",
          added, single, single, sequence('B'), piece(end), post_entry(start, ids[start]), post_entry(end, ids[end]),
          json_quoted(unknown), vocabulary),
      file.string());
}

/// BERT's: vocab.txt has a token a line, the line number from 0 is its id. MPNet frames with <s> and </s>.
Tokenizer open_bert(const Path& directory, const TokenizerSettings& settings) {
  const Path file = directory / "vocab.txt";
  const std::string kind = settings.tokenizer_class();
  static const std::set<std::string> as_bert = {"",
                                                "BertTokenizer",
                                                "DistilBertTokenizer",
                                                "ElectraTokenizer",
                                                "MobileBertTokenizer",
                                                "ConvBertTokenizer",
                                                "SqueezeBertTokenizer",
                                                "LayoutLMTokenizer"};
  const bool mpnet = kind == "MPNetTokenizer";
  if (!mpnet && as_bert.count(kind) == 0) reject_class(file, kind);
  const std::string text = read_file(file);
  check_utf8(text, "reading " + file.string());
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
    special[found->second] = {token, settings.takes_space_before(key, mpnet && key == "mask_token")};
    return std::pair<std::string, std::int64_t>(token, found->second);
  };
  const auto start = special_id("cls_token", mpnet ? "<s>" : "[CLS]", true);
  const auto separator = special_id("sep_token", mpnet ? "</s>" : "[SEP]", true);
  const auto unknown = special_id("unk_token", "[UNK]", true);
  special_id("pad_token", mpnet ? "<pad>" : "[PAD]", false);
  special_id("mask_token", mpnet ? "<mask>" : "[MASK]", false);

  const bool lower = settings.flag("do_lower_case", true);
  const std::string accents = settings.has("strip_accents") ? settings.json().at("strip_accents").text() : "null";
  const std::string cls = json_quoted(start.first), sep = json_quoted(separator.first);
  const auto piece = [](const std::string& name, int type) {
    return fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}})", name, type);
  };
  const auto sequence = [](char name, int type) {
    return fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}})", name, type);
  };
  const std::string single = piece(cls, 0) + "," + sequence('A', 0) + "," + piece(sep, 0);
  const std::string post_processor =
      mpnet
          ? fmt::format(
                R"({{"type":"RobertaProcessing","sep":[{},{}],"cls":[{},{}],"trim_offsets":true,"add_prefix_space":false}})",
                sep, separator.second, cls, start.second)
          : fmt::format(R"({{"type":"TemplateProcessing","single":[{}],"pair":[{},{},{}],"special_tokens":{{{},{}}}}})",
                        single, single, sequence('B', 1), piece(sep, 1), post_entry(start.first, start.second),
                        post_entry(separator.first, separator.second));
  return Tokenizer::parse(
      fmt::format(
          R"({{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{}],"normalizer":{{"type":"BertNormalizer",)"
          R"("clean_text":true,"handle_chinese_chars":{},"strip_accents":{},"lowercase":{}}},)"
          R"("pre_tokenizer":{{"type":"BertPreTokenizer"}},"post_processor":{},"decoder":{{"type":"WordPiece","prefix":"##","cleanup":true}},)"
          R"("model":{{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":"##","max_input_chars_per_word":100,)"
          R"("vocab":{{{}}}}}}})",
          special_tokens(special), settings.flag("tokenize_chinese_chars", true), accents, lower, post_processor,
          json_quoted(unknown.first), vocabulary),
      file.string());
}

/// GPT-2's and RoBERTa's: vocab.json and merges.txt. RoBERTa frames with <s> and </s>, OPT begins with a token.
Tokenizer open_gpt2(const Path& directory, const TokenizerSettings& settings) {
  const Path vocabulary_file = directory / "vocab.json", merges_file = directory / "merges.txt";
  const std::string vocabulary = read_file(vocabulary_file), merges_text = read_file(merges_file);
  check_utf8(merges_text, "reading " + merges_file.string());
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
  const std::string kind = settings.tokenizer_class();
  static const std::set<std::string> as_roberta = {"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer",
                                                   "LEDTokenizer", "MvpTokenizer"},
                                     as_gpt2 = {"GPT2Tokenizer", "CodeGenTokenizer"};
  if (!kind.empty() && as_roberta.count(kind) + as_gpt2.count(kind) == 0) reject_class(vocabulary_file, kind);
  const bool framed = kind.empty() ? ids.has_key("<s>") && ids.has_key("</s>") : as_roberta.count(kind) > 0;
  std::map<std::int64_t, std::pair<std::string, bool>> special;
  const auto special_id = [&](std::string_view key, const char* usual, bool needed) {
    const std::string token = settings.token(key, usual);
    if (!ids.has_key(token)) {
      check(!needed, "reading {}: the token \"{}\" ({}) is missing", vocabulary_file.string(), token, key);
      return std::string();
    }
    const std::int64_t id = ids.at(token).integer(0, 0x7FFFFFFF);
    // RoBERTa's mask takes the space before it where the files say so; transformers 5 assumes it no more.
    special[id] = {token, settings.takes_space_before(key, false)};
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
    const bool begins = settings.flag("add_bos_token", false);
    check(!settings.flag("add_eos_token", false),
          "reading {}: add_eos_token is not supported without a tokenizer.json; save the tokenizer with transformers",
          settings.path().string());
    special_id("bos_token", "<|endoftext|>", begins);
    for (const char* key : {"eos_token", "unk_token"}) special_id(key, "<|endoftext|>", false);
    if (settings.has("pad_token")) special_id("pad_token", "", false);
    if (begins) {
      const std::string token = settings.token("bos_token", "<|endoftext|>");
      const auto text = [&](char name, int type) {
        return fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}},{{"Sequence":{{"id":"{}","type_id":{}}}}})",
                           json_quoted(token), type, name, type);
      };
      post_processor = fmt::format(
          R"({{"type":"TemplateProcessing","single":[{}],"pair":[{},{}],"special_tokens":{{{}}}}})", text('A', 0),
          text('A', 0), text('B', 1), post_entry(token, ids.at(token).integer(0, 0x7FFFFFFF)));
    }
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
  const TokenizerSettings settings(path);
  if (std::filesystem::exists(path / "vocab.txt"))
    return settings.tokenizer_class() == "EsmTokenizer" ? open_esm(path, settings) : open_bert(path, settings);
  if (std::filesystem::exists(path / "vocab.json") && std::filesystem::exists(path / "merges.txt"))
    return open_gpt2(path, settings);
  fail(
      "opening the tokenizer in {}: found neither tokenizer.json, nor tokenizer.model, spiece.model, spm.model, "
      "sentencepiece.bpe.model or source.spm, nor vocab.txt, nor vocab.json with merges.txt",
      path.string());
}

}  // namespace attune
