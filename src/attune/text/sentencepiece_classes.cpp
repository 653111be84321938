#include "attune/text/sentencepiece_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/text/charsmap.h"

namespace attune {

namespace {

// What published checkpoints of each class number, in the order of their training.
constexpr const char* mbart_languages =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX "
    "ro_RO ru_RU si_LK tr_TR vi_VN zh_CN ";
constexpr const char* mbart50_more =
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN "
    "te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";
constexpr const char* m2m100_codes =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr const char* wmt21_codes = "en ha is ja cs ru zh de";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

struct Added {
  std::string content;
  bool takes_space_before = false, special = true;
};

/// A tokenizer.json of pieces, before it is text. The order of `added` numbers those that are no piece.
struct PieceTokenizer {
  std::vector<std::pair<std::string, double>> vocabulary = {};
  std::string unknown = {};
  std::vector<std::string> normalizers = {};  // as in tokenizer.json
  bool splits_at_spaces = false;
  std::vector<Added> added = {};
  std::vector<std::string> before = {}, between = {}, after = {};  // tokens around one text or two
  int second_type = 0;                                             // of the second text and what is after it

  void take(const std::vector<std::string>& tokens, double score = 0) {
    for (const std::string& token : tokens) vocabulary.emplace_back(token, score);
  }
  void take_pieces(const SentencePieceFile& file, std::size_t from) {
    for (std::size_t i = from; i < file.pieces.size(); ++i)
      vocabulary.emplace_back(file.pieces[i].text, file.pieces[i].score);
  }
  void add(const std::vector<std::string>& tokens) {
    for (const std::string& token : tokens) added.push_back({token});
  }
  /// Control symbols, which texts can then hold, and those that the user defined. As symbols they take no spaces.
  void add_symbols(const SentencePieceFile& file) {
    using Type = SentencePiece::Type;
    for (const SentencePiece& piece : file.pieces) {
      if (piece.type != Type::control && piece.type != Type::user_defined) continue;
      const auto known = std::ranges::find(added, piece.text, &Added::content);
      if (known != added.end())
        known->takes_space_before = false;
      else
        added.push_back({piece.text, false, piece.type == Type::control});
    }
  }
  void replace_by_table(const SentencePieceFile& file) {
    const std::string map = file.normalizer.charsmap();
    if (!map.empty())
      normalizers.push_back(fmt::format(R"({{"type":"Precompiled","precompiled_charsmap":"{}"}})", encode_base64(map)));
  }
  void make_one_space() { normalizers.push_back(R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "})"); }

  std::int64_t id_of(const std::string& token) const;
  std::string json() const;
};

std::int64_t PieceTokenizer::id_of(const std::string& token) const {
  const auto found = std::ranges::find_if(vocabulary, [&](const auto& piece) { return piece.first == token; });
  return found == vocabulary.end() ? -1 : found - vocabulary.begin();
}

std::string PieceTokenizer::json() const {
  std::vector<std::string> pieces, tokens, special;
  for (const auto& [text, score] : vocabulary) pieces.push_back(fmt::format("[{},{}]", json_quoted(text), score));
  std::vector<std::pair<std::string, std::int64_t>> numbered;
  const auto number_of = [&](const std::string& token) {
    const auto found = std::ranges::find_if(numbered, [&](const auto& one) { return one.first == token; });
    return found == numbered.end() ? -1 : found->second;
  };
  auto next = static_cast<std::int64_t>(vocabulary.size());
  for (const Added& one : added) {
    if (number_of(one.content) >= 0) continue;
    const std::int64_t piece = id_of(one.content), id = piece >= 0 ? piece : next++;
    numbered.emplace_back(one.content, id);
    tokens.push_back(fmt::format(
        R"({{"id":{},"content":{},"single_word":false,"lstrip":{},"rstrip":false,"normalized":false,"special":{}}})",
        id, json_quoted(one.content), one.takes_space_before, one.special));
  }
  std::ranges::sort(tokens, {}, [](const std::string& token) { return std::stoll(token.substr(6)); });
  std::vector<std::string> single, pair;
  const auto put = [](std::vector<std::string>& list, const std::vector<std::string>& around, int type) {
    for (const std::string& token : around)
      list.push_back(fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}})", json_quoted(token), type));
  };
  const auto text = [](char name, int type) {
    return fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}})", name, type);
  };
  put(single, before, 0);
  single.push_back(text('A', 0));
  pair = single;
  put(single, after, 0);
  put(pair, between, 0);
  pair.push_back(text('B', second_type));
  put(pair, after, second_type);
  for (const auto* around : {&before, &between, &after})
    for (const std::string& token : *around)
      special.push_back(
          fmt::format(R"({0}:{{"id":{0},"ids":[{1}],"tokens":[{0}]}})", json_quoted(token), number_of(token)));
  std::ranges::sort(special);
  special.erase(std::unique(special.begin(), special.end()), special.end());
  constexpr const char* spaces = R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true})";
  const std::string cut =
      splits_at_spaces
          ? fmt::format(R"({{"type":"Sequence","pretokenizers":[{{"type":"WhitespaceSplit"}},{}]}})", spaces)
          : spaces;
  return fmt::format(
      R"({{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{}],"normalizer":{},"pre_tokenizer":{},)"
      R"("post_processor":{{"type":"TemplateProcessing","single":[{}],"pair":[{}],"special_tokens":{{{}}}}},)"
      R"("decoder":{},"model":{{"type":"Unigram","unk_id":{},"vocab":[{}],"byte_fallback":false}}}})",
      fmt::join(tokens, ","),
      normalizers.empty() ? "null"
                          : fmt::format(R"({{"type":"Sequence","normalizers":[{}]}})", fmt::join(normalizers, ",")),
      cut, fmt::join(single, ","), fmt::join(pair, ","), fmt::join(special, ","), spaces, id_of(unknown),
      fmt::join(pieces, ","));
}

struct Source {
  const SentencePieceFile& file;
  const TokenizerSettings& settings;

  std::string token(const char* key, const char* usual) const { return settings.token(key, usual); }
  std::string language(const char* usual) const {
    const std::string given = settings.text("src_lang");
    return given.empty() ? usual : given;
  }
};

/// fairseq's numbers: four tokens of its own, the pieces without the model's three, and what follows.
PieceTokenizer fairseq(const Source& s, const std::vector<std::string>& languages, bool mask_takes_space) {
  const std::string bos = s.token("bos_token", "<s>"), eos = s.token("eos_token", "</s>"),
                    unk = s.token("unk_token", "<unk>"), sep = s.token("sep_token", "</s>"),
                    pad = s.token("pad_token", "<pad>"), cls = s.token("cls_token", "<s>"),
                    mask = s.token("mask_token", "<mask>");
  PieceTokenizer t{.unknown = unk, .splits_at_spaces = true};
  t.take({cls, pad, eos, unk});
  t.take_pieces(s.file, 3);
  t.take(languages);
  t.take({mask});
  t.add({bos, eos, unk, sep, pad, cls});
  t.added.push_back({mask, mask_takes_space});
  t.add(languages);
  t.before = {bos};
  t.between = {eos, eos};
  t.after = {eos};
  return t;
}

PieceTokenizer xlm_roberta(const Source& s) {
  PieceTokenizer t = fairseq(s, {}, false);
  t.replace_by_table(s.file);
  t.add_symbols(s.file);
  return t;
}

/// A text, its end, its language; nothing is replaced in it.
PieceTokenizer mbart(const Source& s) {
  PieceTokenizer t = fairseq(s, words_of(mbart_languages), true);
  t.add_symbols(s.file);
  t.before = t.between = {};
  t.after.push_back(s.language("en_XX"));
  return t;
}

/// The language, a text, its end.
PieceTokenizer mbart50(const Source& s) {
  PieceTokenizer t = fairseq(s, words_of(std::string(mbart_languages) + mbart50_more), true);
  t.replace_by_table(s.file);
  t.make_one_space();
  t.splits_at_spaces = false;
  t.add_symbols(s.file);
  t.before = {s.language("en_XX")};
  t.between = {};
  return t;
}

PieceTokenizer camembert(const Source& s) {
  PieceTokenizer t = fairseq(s, {}, true);
  t.vocabulary.clear();
  t.take({"<s>NOTUSED", s.token("pad_token", "<pad>"), "</s>NOTUSED", s.token("unk_token", "<unk>")});
  t.take({"<unk>NOTUSED"}, -100);
  t.take_pieces(s.file, 1);
  t.take({s.token("mask_token", "<mask>")});
  t.replace_by_table(s.file);
  t.add_symbols(s.file);
  return t;
}

/// Tokens that only its pretraining used stand before the pieces.
PieceTokenizer pegasus(const Source& s) {
  const std::string pad = s.token("pad_token", "<pad>"), eos = s.token("eos_token", "</s>"),
                    unk = s.token("unk_token", "<unk>"), mask = s.token("mask_token", "<mask_2>"),
                    sentence = s.token("mask_token_sent", "<mask_1>");
  const std::int64_t offset = s.settings.integer("offset", 103);
  std::vector<std::string> unused;
  for (std::int64_t i = 2; i < offset; ++i) unused.push_back(fmt::format("<unk_{}>", i));
  PieceTokenizer t{.unknown = unk};
  t.take({pad, eos});
  t.take({s.token("mask_token", "<mask_1>")});
  if (const std::string second = s.token("mask_token_sent", "<mask_2>"); second != t.vocabulary.back().first)
    t.take({second});
  t.take(unused, -100);
  t.take_pieces(s.file, 2);
  t.replace_by_table(s.file);
  if (t.normalizers.empty()) t.normalizers.push_back(R"({"type":"Replace","pattern":{"Regex":"\\n"},"content":" "})");
  t.make_one_space();
  t.add({eos, unk, pad, mask, sentence});
  t.add(unused);
  t.after = {eos};
  return t;
}

/// Pieces as the model numbers them, framed as BERT frames: [CLS] A [SEP] B [SEP].
PieceTokenizer framed_as_bert(const Source& s, const PieceTokenizer& usual) {
  PieceTokenizer t = usual;
  t.take_pieces(s.file, 0);
  t.add_symbols(s.file);
  const std::string sep = s.token("sep_token", "[SEP]");
  t.before = {s.token("cls_token", "[CLS]")};
  t.between = t.after = {sep};
  t.second_type = 1;
  return t;
}

PieceTokenizer albert(const Source& s) {
  PieceTokenizer t{.unknown = s.token("unk_token", "<unk>"), .splits_at_spaces = true};
  t.add({s.token("bos_token", "[CLS]"), s.token("eos_token", "[SEP]"), t.unknown, s.token("sep_token", "[SEP]"),
         s.token("pad_token", "<pad>"), s.token("cls_token", "[CLS]"), s.token("mask_token", "[MASK]")});
  for (const char* quotes : {"``", "''"})
    t.normalizers.push_back(fmt::format(R"({{"type":"Replace","pattern":{{"String":"{}"}},"content":"\""}})", quotes));
  if (!s.settings.flag("keep_accents", false)) {
    t.normalizers.push_back(R"({"type":"NFKD"})");
    t.normalizers.push_back(R"({"type":"StripAccents"})");
  }
  if (s.settings.flag("do_lower_case", true)) t.normalizers.push_back(R"({"type":"Lowercase"})");
  t.replace_by_table(s.file);
  return framed_as_bert(s, t);
}

PieceTokenizer big_bird(const Source& s) {
  PieceTokenizer t{.unknown = s.token("unk_token", "<unk>")};
  t.add({s.token("bos_token", "<s>"), s.token("eos_token", "</s>"), t.unknown, s.token("sep_token", "[SEP]"),
         s.token("pad_token", "<pad>"), s.token("cls_token", "[CLS]")});
  t.added.push_back({s.token("mask_token", "[MASK]"), true});
  t.normalizers.push_back(R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":"▁"})");
  return framed_as_bert(s, t);
}

/// transformers 5 cleans spaces and composes characters; it leaves the model's table of replacements out.
PieceTokenizer deberta_v2(const Source& s) {
  if (s.settings.flag("split_by_punct", false))
    s.settings.json().at("split_by_punct").reject("not supported without a tokenizer.json: save one with transformers");
  PieceTokenizer t{.unknown = s.token("unk_token", "[UNK]")};
  t.add({s.token("bos_token", "[CLS]"), s.token("eos_token", "[SEP]"), t.unknown, s.token("sep_token", "[SEP]"),
         s.token("pad_token", "[PAD]"), s.token("cls_token", "[CLS]"), s.token("mask_token", "[MASK]")});
  if (s.settings.flag("do_lower_case", false)) t.normalizers.push_back(R"({"type":"Lowercase"})");
  t.normalizers.push_back(R"({"type":"Replace","pattern":{"Regex":"\\s{2,}|[\\n\\r\\t]"},"content":" "})");
  t.normalizers.push_back(R"({"type":"NFC"})");
  t.normalizers.push_back(R"({"type":"Strip","strip_left":false,"strip_right":true})");
  return framed_as_bert(s, t);
}

}  // namespace

std::optional<std::string> tokenizer_json_of_pieces(const SentencePieceFile& file, const std::string& class_name,
                                                    const TokenizerSettings& settings) {
  static constexpr std::pair<const char*, PieceTokenizer (*)(const Source&)> makers[] = {
      {"XLMRobertaTokenizer", xlm_roberta}, {"CamembertTokenizer", camembert}, {"MBartTokenizer", mbart},
      {"MBart50Tokenizer", mbart50},        {"PegasusTokenizer", pegasus},     {"AlbertTokenizer", albert},
      {"BigBirdTokenizer", big_bird},       {"DebertaV2Tokenizer", deberta_v2}};
  const auto maker = std::ranges::find_if(makers, [&](const auto& one) { return class_name == one.first; });
  if (maker == std::end(makers)) return std::nullopt;
  const std::string where = settings.path().parent_path().string();
  check(file.kind() == SentencePieceFile::Kind::unigram,
        "opening the tokenizer in {}: {} has a unigram model, and this one is of another kind: save the tokenizer with "
        "transformers, which writes tokenizer.json",
        where, class_name);
  const PieceTokenizer made = maker->second({file, settings});
  check(made.id_of(made.unknown) >= 0, "opening the tokenizer in {}: the token \"{}\" is missing", where, made.unknown);
  for (const auto* around : {&made.before, &made.after})
    for (const std::string& token : *around)
      check(std::ranges::any_of(made.added, [&](const Added& one) { return one.content == token; }),
            "opening the tokenizer in {}: the token \"{}\" is missing", where, token);
  return made.json();
}

std::vector<std::string> m2m_100_languages(const std::string& language_codes) {
  std::vector<std::string> tokens;
  const char* codes = language_codes == "m2m100" ? m2m100_codes : language_codes == "wmt21" ? wmt21_codes : "";
  for (const std::string& code : words_of(codes)) tokens.push_back("__" + code + "__");
  return tokens;
}

}  // namespace attune
