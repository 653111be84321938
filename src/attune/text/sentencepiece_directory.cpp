#include "attune/text/sentencepiece_directory.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "attune/base/json.h"
#include "attune/text/sentencepiece.h"
#include "attune/text/sentencepiece_classes.h"
#include "attune/text/tokenizer_parts.h"
#include "attune/text/tokenizer_settings.h"

namespace attune {

namespace {

constexpr const char* model_names[] = {"tokenizer.model", "spiece.model", "source.spm", "sentencepiece.bpe.model",
                                       "spm.model"};

std::shared_ptr<Tokenizer::Parts> parts_of(const SentencePieceFile& file, const std::string& source) {
  auto parts = std::make_shared<Tokenizer::Parts>();
  parts->model = sentencepiece_model(file, source);
  within(source, [&] {
    parts->normalizer = sentencepiece_normalizer(file);
    parts->decoder = sentencepiece_decoder(file);
  });
  parts->pre_tokenizer = sentencepiece_words(file);
  return parts;
}

void declare_control(const SentencePieceFile& file, AddedTokens& added) {
  for (std::size_t id = 0; id < file.pieces.size(); ++id)
    if (file.pieces[id].type == SentencePiece::Type::control)
      added.declare({.content = file.pieces[id].text, .id = static_cast<std::int32_t>(id), .special = true});
}

/// What a kind of tokenizer puts around a text and finds in it.
struct Kind {
  std::string start, end;  // tokens around a text; "" for none
  std::int64_t extra_ids = 0;
  bool marian = false;
  int second_type = 0;      // of the second text of a pair
  bool joins_pair = false;  // nothing stands between the texts of a pair
  /// Tokens behind the last of vocab.json, by which languages are chosen (M2M100).
  std::vector<std::string> languages = {};
};

Kind kind_of(const std::string& name, const TokenizerSettings& settings) {
  Kind kind;
  if (name.empty()) return kind;
  kind.marian = name == "MarianTokenizer";
  const bool llama = name == "LlamaTokenizer" || name == "CodeLlamaTokenizer", gemma = name == "GemmaTokenizer";
  const bool t5 = name == "T5Tokenizer" || name == "MT5Tokenizer";
  const bool m2m_100 =
      name == "M2M100Tokenizer" && std::filesystem::exists(settings.path().parent_path() / "vocab.json");
  if (m2m_100) {
    const std::string list = settings.text("language_codes").empty() ? "m2m100" : settings.text("language_codes"),
                      source = settings.text("src_lang").empty() ? "en" : settings.text("src_lang");
    kind.languages = m2m_100_languages(list);
    check(!kind.languages.empty(), "reading {}: \"language_codes\" is \"{}\": expected m2m100 or wmt21",
          settings.path().string(), list);
    kind.start = "__" + source + "__";
    check(std::ranges::find(kind.languages, kind.start) != kind.languages.end(),
          "reading {}: \"src_lang\" is \"{}\", which is none of its languages", settings.path().string(), source);
    kind.joins_pair = true;
  }
  if (!llama && !gemma && !t5 && !kind.marian && !m2m_100)
    fail(
        "opening the tokenizer in {}: {} is not supported with a SentencePiece file: save the tokenizer with "
        "transformers, which writes tokenizer.json",
        settings.path().parent_path().string(), name);
  if ((llama || gemma) && settings.flag("add_bos_token", true))
    kind.start = settings.token("bos_token", gemma ? "<bos>" : "<s>");
  if (t5 || kind.marian || m2m_100 || settings.flag("add_eos_token", false))
    kind.end = settings.token("eos_token", gemma ? "<eos>" : "</s>");
  if (llama || gemma) kind.second_type = 1;
  if (t5) kind.extra_ids = settings.integer("extra_ids", 100);
  return kind;
}

/// "added_tokens" of a tokenizer.json: what tokenizer_config.json lists; else the special tokens, and T5's sentinels
/// from the last to the first.
std::string added_tokens(const Kind& kind, const TokenizerSettings& settings, const Vocabulary& vocabulary) {
  std::string json;
  std::set<std::int64_t> listed;
  const auto add = [&](std::int64_t id, const std::string& content, const std::string& flags) {
    json += fmt::format(R"({}{{"id":{},"content":{},{}}})", json.empty() ? "" : ",", id, json_quoted(content), flags);
  };
  const auto put = [&](std::int64_t id, const std::string& content, bool special) {
    add(id, content,
        fmt::format(R"("single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":{})", special));
  };
  if (settings.has("added_tokens_decoder")) {
    std::map<std::int64_t, std::pair<std::string, std::string>> by_id;
    settings.json().at("added_tokens_decoder").each_member([&](std::string_view key, const JsonView& token) {
      std::int64_t id = 0;
      for (char c : key) {
        if (c < '0' || c > '9' || id > 100'000'000) token.reject("\"{}\" is not an id", key);
        id = id * 10 + (c - '0');
      }
      const auto flag = [&](const char* name, bool otherwise) { return token.flag_or(name, otherwise); };
      by_id[id] = {token.string("content"),
                   fmt::format(R"("single_word":{},"lstrip":{},"rstrip":{},"normalized":{},"special":{})",
                               flag("single_word", false), flag("lstrip", false), flag("rstrip", false),
                               flag("normalized", false), flag("special", false))};
    });
    for (const auto& [id, token] : by_id) {
      add(id, token.first, token.second);
      listed.insert(id);
    }
  }
  for (std::int32_t id = 0; kind.marian && id < vocabulary.limit(); ++id)  // ">>fra<<" chooses the language
    if (vocabulary.has(id) && vocabulary.token(id).starts_with(">>") && vocabulary.token(id).ends_with("<<"))
      put(id, std::string(vocabulary.token(id)), false);
  for (std::size_t i = 0; i < kind.languages.size(); ++i)
    if (listed.count(vocabulary.limit() + static_cast<std::int64_t>(i)) == 0)
      put(vocabulary.limit() + static_cast<std::int64_t>(i), kind.languages[i], true);
  if (settings.has("added_tokens_decoder")) return json;
  std::map<std::int64_t, std::string> special;
  for (const std::string& token :
       {settings.token("bos_token", kind.languages.empty() ? "" : "<s>"), kind.start, kind.end,
        settings.token("unk_token", "<unk>"), settings.token("pad_token", "<pad>")})
    if (const std::int32_t id = vocabulary.find(token); id >= 0) special[id] = token;
  for (std::int64_t i = 0; i < kind.extra_ids; ++i)
    special[vocabulary.size() + i] = fmt::format("<extra_id_{}>", kind.extra_ids - 1 - i);
  for (const auto& [id, token] : special) put(id, token, true);
  return json;
}

/// A template that puts the kind's tokens around one text or two.
std::shared_ptr<const PostProcessor> framing(const Kind& kind, const Tokenizer::Parts& parts, const Path& directory) {
  if (kind.start.empty() && kind.end.empty()) return nullptr;
  std::vector<std::string> special, single, pair;
  const auto put = [&](std::vector<std::string>& list, const std::string& token, int type) {
    if (!token.empty())
      list.push_back(fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}})", json_quoted(token), type));
  };
  const auto put_text = [&](std::vector<std::string>& list, char name, int type) {
    put(list, kind.start, type);
    list.push_back(fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}})", name, type));
    put(list, kind.end, type);
  };
  put_text(single, 'A', 0);
  if (kind.joins_pair) {
    put(pair, kind.start, 0);
    for (const char name : {'A', 'B'}) pair.push_back(fmt::format(R"({{"Sequence":{{"id":"{}","type_id":0}}}})", name));
    put(pair, kind.end, 0);
  } else {
    put_text(pair, 'A', 0);
    put_text(pair, 'B', kind.second_type);
  }
  for (const std::string& token : {kind.start, kind.end}) {
    if (token.empty()) continue;
    const AddedToken* added = parts.added.find(token);
    const std::int32_t id = added ? added->id : parts.model->vocabulary().find(token);
    check(id >= 0, "opening the tokenizer in {}: the token \"{}\" is missing", directory.string(), token);
    special.push_back(fmt::format(R"({0}:{{"id":{0},"ids":[{1}],"tokens":[{0}]}})", json_quoted(token), id));
  }
  return PostProcessor::read(JsonView::parse(
      fmt::format(R"({{"type":"TemplateProcessing","single":[{}],"pair":[{}],"special_tokens":{{{}}}}})",
                  fmt::join(single, ","), fmt::join(pair, ","), fmt::join(special, ",")),
      directory.string()));
}

/// Marian's and M2M100's: pieces of a model under the ids of vocab.json, which all languages share.
class SharedVocabulary final : public TokenizerModel {
 public:
  SharedVocabulary(std::shared_ptr<const TokenizerModel> pieces, std::int32_t piece_unknown, Vocabulary vocabulary,
                   std::int32_t unknown)
      : TokenizerModel(std::move(vocabulary)),
        pieces_(std::move(pieces)),
        piece_unknown_(piece_unknown),
        unknown_(unknown) {
    for (std::int32_t id = 0; id < pieces_->vocabulary().limit(); ++id) {
      const std::int32_t own = vocabulary_.find(pieces_->vocabulary().token(id));
      ids_.push_back(own < 0 ? unknown_ : own);
    }
  }

  void encode(std::string_view word, std::vector<Symbol>& symbols) const override {
    const std::size_t first = symbols.size();
    pieces_->encode(word, symbols);
    std::size_t at = 0;
    for (std::size_t i = first; i < symbols.size(); ++i) {
      Symbol& symbol = symbols[i];
      // What the source's pieces lack may still be a token, from the other language.
      const std::int32_t own = symbol.id == piece_unknown_ ? vocabulary_.find(word.substr(at, symbol.length))
                                                           : ids_[static_cast<std::size_t>(symbol.id)];
      symbol.id = own < 0 ? unknown_ : own;
      at += symbol.length;
    }
  }
  void write(std::string& json) const override { pieces_->write(json); }

 private:
  std::shared_ptr<const TokenizerModel> pieces_;
  std::int32_t piece_unknown_, unknown_;
  std::vector<std::int32_t> ids_;  // [pieces]
};

/// The pieces joined, without spaces around; pieces that only the source has are text, too.
class StrippingDecoder final : public TokenDecoder {
 public:
  explicit StrippingDecoder(std::shared_ptr<const TokenDecoder> target) : target_(std::move(target)) {}
  void apply(std::vector<std::string>& tokens) const override {
    target_->apply(tokens);
    for (std::string& text : tokens) {
      const std::size_t begin = text.find_first_not_of(" \n\t\r");
      text = begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \n\t\r") + 1 - begin);
    }
  }

 private:
  std::shared_ptr<const TokenDecoder> target_;
};

void share_vocabulary(const Path& directory, const SentencePieceFile& source, Tokenizer::Parts& parts) {
  const Path vocabulary_file = directory / "vocab.json";
  parts.files.push_back({"vocab.json", read_file(vocabulary_file)});
  Vocabulary vocabulary = Vocabulary::read(JsonView::parse(parts.files.back().second, vocabulary_file.string()));
  const std::int32_t unknown = vocabulary.find("<unk>");
  check(unknown >= 0, "{}: the token \"<unk>\" is missing", vocabulary_file.string());
  const auto piece = std::find_if(source.pieces.begin(), source.pieces.end(),
                                  [](const SentencePiece& p) { return p.type == SentencePiece::Type::unknown; });
  parts.model = std::make_shared<SharedVocabulary>(
      parts.model, static_cast<std::int32_t>(piece - source.pieces.begin()), std::move(vocabulary), unknown);
}

void make_marian(const Path& directory, const SentencePieceFile& source, Tokenizer::Parts& parts) {
  const Path target_file = directory / "target.spm";
  parts.files.push_back({"target.spm", read_file(target_file)});
  const SentencePieceFile target = SentencePieceFile::read(parts.files.back().second, target_file.string());
  share_vocabulary(directory, source, parts);
  parts.decoder = std::make_shared<StrippingDecoder>(sentencepiece_decoder(target));
}

}  // namespace

Tokenizer parse_sentencepiece(std::string bytes, const std::string& source) {
  const SentencePieceFile file = SentencePieceFile::read(bytes, source);
  auto parts = parts_of(file, source);
  declare_control(file, parts->added);
  parts->files.push_back({"tokenizer.model", std::move(bytes)});
  return Tokenizer::made_of(std::move(parts));
}

Tokenizer open_sentencepiece(const Path& file) { return parse_sentencepiece(read_file(file), file.string()); }

Path sentencepiece_file_in(const Path& directory) {
  for (const char* name : model_names)
    if (std::filesystem::exists(directory / name)) return directory / name;
  return {};
}

Tokenizer open_sentencepiece_directory(const Path& directory) {
  const Path path = sentencepiece_file_in(directory);
  std::string bytes = read_file(path);
  const SentencePieceFile file = SentencePieceFile::read(bytes, path.string());
  const TokenizerSettings settings(directory);
  const std::string name = settings.tokenizer_class();
  if (const std::optional<std::string> json = tokenizer_json_of_pieces(file, name, settings))
    return Tokenizer::parse(*json, path.string());
  auto parts = parts_of(file, path.string());
  parts->files.push_back({path.filename().string(), std::move(bytes)});
  const Kind kind = kind_of(name, settings);
  check(kind.marian == (path.filename() == "source.spm"),
        "opening the tokenizer in {}: its class is \"{}\", but its model is {}", directory.string(), name,
        path.filename().string());
  if (kind.marian) make_marian(directory, file, *parts);
  if (!kind.languages.empty()) {
    share_vocabulary(directory, file, *parts);
    parts->decoder = std::make_shared<StrippingDecoder>(parts->decoder);
  }
  if (name.empty()) {
    declare_control(file, parts->added);
  } else {
    const std::string added = "[" + added_tokens(kind, settings, parts->model->vocabulary()) + "]";
    parts->added.read(JsonView::parse(added, (directory / "tokenizer_config.json").string()), *parts->model, nullptr);
  }
  parts->post_processor = framing(kind, *parts, directory);
  for (const char* other : {"tokenizer_config.json", "special_tokens_map.json"})
    if (std::filesystem::exists(directory / other)) parts->files.push_back({other, read_file(directory / other)});
  return Tokenizer::made_of(std::move(parts));
}

}  // namespace attune
