#include "attune/text/sentencepiece_directory.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "attune/base/json.h"
#include "attune/text/sentencepiece.h"
#include "attune/text/tokenizer_parts.h"
#include "attune/text/tokenizer_settings.h"

namespace attune {

namespace {

constexpr const char* model_names[] = {"tokenizer.model", "spiece.model", "source.spm"};

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
  int second_type = 0;  // of the second text of a pair
};

/// The class that the directory names, without "Fast"; else the one that belongs to the model's type; else "".
std::string class_of(const Path& directory, const TokenizerSettings& settings) {
  std::string name = settings.text("tokenizer_class");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  const Path config = directory / "config.json";
  if (!name.empty() || !std::filesystem::exists(config)) return name;
  const std::string type = JsonView::parse(read_file(config), config.string()).string_or("model_type", "");
  // For other types transformers 5 takes the file as it is, too.
  static const std::map<std::string, std::string> classes = {{"t5", "T5Tokenizer"},
                                                             {"mt5", "T5Tokenizer"},
                                                             {"umt5", "T5Tokenizer"},
                                                             {"longt5", "T5Tokenizer"},
                                                             {"marian", "MarianTokenizer"}};
  const auto found = classes.find(type);
  return found == classes.end() ? "" : found->second;
}

Kind kind_of(const std::string& name, const TokenizerSettings& settings) {
  Kind kind;
  if (name.empty()) return kind;
  kind.marian = name == "MarianTokenizer";
  const bool llama = name == "LlamaTokenizer" || name == "CodeLlamaTokenizer", gemma = name == "GemmaTokenizer";
  const bool t5 = name == "T5Tokenizer" || name == "MT5Tokenizer";
  if (!llama && !gemma && !t5 && !kind.marian)
    fail(
        "opening the tokenizer in {}: {} is not supported with a SentencePiece file: save the tokenizer with "
        "transformers, which writes tokenizer.json",
        settings.path().parent_path().string(), name);
  if ((llama || gemma) && settings.flag("add_bos_token", true))
    kind.start = settings.token("bos_token", gemma ? "<bos>" : "<s>");
  if (t5 || kind.marian || settings.flag("add_eos_token", false))
    kind.end = settings.token("eos_token", gemma ? "<eos>" : "</s>");
  if (llama || gemma) kind.second_type = 1;
  if (t5) kind.extra_ids = settings.integer("extra_ids", 100);
  return kind;
}

/// "added_tokens" of a tokenizer.json: what tokenizer_config.json lists; else the special tokens, and T5's sentinels
/// from the last to the first.
std::string added_tokens(const Kind& kind, const TokenizerSettings& settings, const Vocabulary& vocabulary) {
  std::string json;
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
    for (const auto& [id, token] : by_id) add(id, token.first, token.second);
  }
  for (std::int32_t id = 0; kind.marian && id < vocabulary.limit(); ++id)  // ">>fra<<" chooses the language
    if (vocabulary.has(id) && vocabulary.token(id).starts_with(">>") && vocabulary.token(id).ends_with("<<"))
      put(id, std::string(vocabulary.token(id)), false);
  if (settings.has("added_tokens_decoder")) return json;
  std::map<std::int64_t, std::string> special;
  for (const std::string& token :
       {kind.start, kind.end, settings.token("unk_token", "<unk>"), settings.token("pad_token", "<pad>")})
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
  put_text(pair, 'A', 0);
  put_text(pair, 'B', kind.second_type);
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

/// Marian's: pieces of source.spm under the ids of vocab.json, which both languages share.
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

/// The target's pieces joined; pieces that only the source has are text, too.
class MarianDecoder final : public TokenDecoder {
 public:
  explicit MarianDecoder(std::shared_ptr<const TokenDecoder> target) : target_(std::move(target)) {}
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

void make_marian(const Path& directory, const SentencePieceFile& source, Tokenizer::Parts& parts) {
  const Path target_file = directory / "target.spm", vocabulary_file = directory / "vocab.json";
  parts.files.push_back({"target.spm", read_file(target_file)});
  const SentencePieceFile target = SentencePieceFile::read(parts.files.back().second, target_file.string());
  parts.files.push_back({"vocab.json", read_file(vocabulary_file)});
  Vocabulary vocabulary = Vocabulary::read(JsonView::parse(parts.files.back().second, vocabulary_file.string()));
  const std::int32_t unknown = vocabulary.find("<unk>");
  check(unknown >= 0, "{}: the token \"<unk>\" is missing", vocabulary_file.string());
  const auto piece = std::find_if(source.pieces.begin(), source.pieces.end(),
                                  [](const SentencePiece& p) { return p.type == SentencePiece::Type::unknown; });
  parts.model = std::make_shared<SharedVocabulary>(
      parts.model, static_cast<std::int32_t>(piece - source.pieces.begin()), std::move(vocabulary), unknown);
  parts.decoder = std::make_shared<MarianDecoder>(sentencepiece_decoder(target));
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
  const std::string name = class_of(directory, settings);
  auto parts = parts_of(file, path.string());
  parts->files.push_back({path.filename().string(), std::move(bytes)});
  const Kind kind = kind_of(name, settings);
  check(kind.marian == (path.filename() == "source.spm"),
        "opening the tokenizer in {}: its class is \"{}\", but its model is {}", directory.string(), name,
        path.filename().string());
  if (kind.marian) make_marian(directory, file, *parts);
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
