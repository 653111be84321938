#include "attune/text/tokenizer_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "attune/base/json.h"

namespace attune {

namespace {

/// The parts that a kind of tokenizer has around its model, as JSON.
struct Surroundings {
  std::string normalizer, pre_tokenizer, decoder;
  std::string unframed;  // post-processor where there are no tokens to put around a text
};

Surroundings surroundings_of(const TokenizerTraining& training) {
  const auto byte_level = [](bool prefix, bool trim) {
    return fmt::format(R"({{"type":"ByteLevel","add_prefix_space":{},"trim_offsets":{},"use_regex":true}})", prefix,
                       trim);
  };
  switch (training.kind) {
    case TokenizerKind::byte_level_bpe:
      return {"null", byte_level(false, true), byte_level(true, true), byte_level(true, false)};
    case TokenizerKind::word_piece:
      return {fmt::format(R"({{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)"
                          R"("strip_accents":null,"lowercase":{}}})",
                          training.lower_case),
              R"({"type":"BertPreTokenizer"})", R"({"type":"WordPiece","prefix":"##","cleanup":true})", "null"};
    case TokenizerKind::unigram:
      break;
  }
  const std::string metaspace = R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true})";
  return {R"({"type":"Sequence","normalizers":[{"type":"Nmt"},{"type":"NFKC"},)"
          R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}]})",
          metaspace, metaspace, "null"};
}

/// The template that puts the special tokens around a text or two.
std::string framing(const TokenizerTraining& t, const StringTable& tokens) {
  std::vector<std::string> single, pair, special;
  const auto put = [](std::vector<std::string>& list, const std::string& token, int type) {
    if (!token.empty())
      list.push_back(fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}})", json_quoted(token), type));
  };
  const auto put_sequence = [](std::vector<std::string>& list, char name, int type) {
    list.push_back(fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}})", name, type));
  };
  put(single, t.start_token, 0);
  put_sequence(single, 'A', 0);
  put(single, t.end_token, 0);
  pair = single;
  put_sequence(pair, 'B', 1);
  put(pair, t.end_token, 1);
  for (const std::string& token : {t.start_token, t.end_token}) {
    if (token.empty() || (token == t.end_token && token == t.start_token && !special.empty())) continue;
    special.push_back(
        fmt::format(R"({0}:{{"id":{0},"ids":[{1}],"tokens":[{0}]}})", json_quoted(token), tokens.find(token)));
  }
  return fmt::format(R"({{"type":"TemplateProcessing","single":[{}],"pair":[{}],"special_tokens":{{{}}}}})",
                     fmt::join(single, ","), fmt::join(pair, ","), fmt::join(special, ","));
}

/// Both: of byte-level tokens the places, too, without the spaces that they hold.
std::string framed_by(const TokenizerTraining& t, const StringTable& tokens) {
  if (t.kind != TokenizerKind::byte_level_bpe) return framing(t, tokens);
  const std::string trimming = R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})";
  return fmt::format(R"({{"type":"Sequence","processors":[{},{}]}})", trimming, framing(t, tokens));
}

}  // namespace

std::string describe_tokenizer(const TokenizerTraining& t, const StringTable& tokens, std::string_view model) {
  const Surroundings around = surroundings_of(t);
  std::string added;
  for (const std::string& token : t.special_tokens)
    added += fmt::format(
        R"({}{{"id":{},"content":{},"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}})",
        added.empty() ? "" : ",", tokens.find(token), json_quoted(token));
  const bool framed = !t.start_token.empty() || !t.end_token.empty() || t.kind == TokenizerKind::word_piece;
  return fmt::format(
      R"({{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{}],"normalizer":{},"pre_tokenizer":{},)"
      R"("post_processor":{},"decoder":{},"model":{}}})",
      added, around.normalizer, around.pre_tokenizer, framed ? framed_by(t, tokens) : around.unframed, around.decoder,
      model);
}

std::string unknown_token(const TokenizerTraining& training) {
  for (const char* name : {"<unk>", "[UNK]"})
    if (std::count(training.special_tokens.begin(), training.special_tokens.end(), name) > 0) return name;
  return "";
}

}  // namespace attune
