#include "attune/bundle/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "attune/base/error.h"
#include "attune/bundle/gguf_pre_tokenizer.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// "tokenizer.ggml.token_type".
enum TokenType : std::int64_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

constexpr const char* space = "\u2581";  // ▁, which stands for a space in SentencePiece's tokens

struct Vocabulary {
  const std::vector<std::string>& tokens;
  std::vector<std::int64_t> types;
  std::vector<double> scores;

  static Vocabulary read(const GgufMetadata& metadata) {
    Vocabulary v{metadata.texts("tokenizer.ggml.tokens"), metadata.integers("tokenizer.ggml.token_type"),
                 metadata.numbers("tokenizer.ggml.scores")};
    check(!v.tokens.empty(), "\"tokenizer.ggml.tokens\" is missing or empty");
    check(v.types.empty() || v.types.size() == v.tokens.size(),
          "\"tokenizer.ggml.token_type\" has {} entries for {} tokens", v.types.size(), v.tokens.size());
    check(v.scores.empty() || v.scores.size() == v.tokens.size(),
          "\"tokenizer.ggml.scores\" has {} entries for {} tokens", v.scores.size(), v.tokens.size());
    if (v.types.empty()) v.types.assign(v.tokens.size(), normal);
    return v;
  }

  /// A JSON string; an Error names the token that is not UTF-8.
  void append_quoted(std::string& json, std::size_t id) const {
    try {
      attune::append_quoted(json, tokens[id]);
    } catch (const Error& error) {
      fail("\"tokenizer.ggml.tokens\", token {}: {}", id, error.what());
    }
  }
  std::string quoted(std::size_t id) const {
    std::string json;
    append_quoted(json, id);
    return json;
  }
};

/// The id under "tokenizer.ggml.NAME_token_id"; none where it is not there.
std::optional<std::int64_t> token_id(const GgufMetadata& metadata, const Vocabulary& v, const std::string& name) {
  const std::string key = "tokenizer.ggml." + name + "_token_id";
  const std::optional<std::int64_t> id = metadata.integer(key);
  check(!id || (*id >= 0 && *id < static_cast<std::int64_t>(v.tokens.size())), "\"{}\" is {}, and there are {} tokens",
        key, id.value_or(0), v.tokens.size());
  return id;
}

/// ["left","right"], in a list that was begun.
void append_pair(std::string& json, std::string_view left, std::string_view right) {
  json += json.back() == '[' ? "[" : ",[";
  append_quoted(json, left);
  json += ',';
  append_quoted(json, right);
  json += ']';
}

/// Tokens that are matched in the text before anything else: `strips` are those that take the spaces behind them.
std::string added_tokens(const Vocabulary& v, bool strips) {
  static constexpr std::array<std::string_view, 3> plain = {"<unk>", "<s>", "<|endoftext|>"};
  std::string json;
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    const bool special = v.types[id] == control || v.types[id] == unknown;
    if ((!special && v.types[id] != user_defined) || v.tokens[id].empty()) continue;
    const bool strip = strips && special && std::ranges::find(plain, v.tokens[id]) == plain.end();
    json += fmt::format(
        R"({}{{"id":{},"content":{},"single_word":false,"lstrip":false,"rstrip":{},"normalized":false,"special":{}}})",
        json.empty() ? "" : ",", id, v.quoted(id), strip, special);
  }
  return json;
}

std::string template_piece(const std::string& token, int type) {
  return fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}},)", token, type);
}

/// [bos] text [eos], as the metadata ask for; "" for neither. BERT's pairs share the token between them.
std::string template_processing(const Vocabulary& v, std::optional<std::int64_t> first,
                                std::optional<std::int64_t> last, bool pair_shares) {
  if (!first && !last) return "";
  const auto quoted = [&](std::optional<std::int64_t> id) { return v.quoted(static_cast<std::size_t>(*id)); };
  const auto sequence = [&](const char* name, int type, bool with_first) {
    std::string pieces;
    if (first && with_first) pieces += template_piece(quoted(first), type);
    pieces += fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}},)", name, type);
    if (last) pieces += template_piece(quoted(last), type);
    return pieces;
  };
  std::string single = sequence("A", 0, true), pair = single + sequence("B", 1, !pair_shares), tokens;
  single.pop_back();
  pair.pop_back();
  const auto entry = [&](std::optional<std::int64_t> id) {
    return fmt::format(R"({0}:{{"id":{0},"ids":[{1}],"tokens":[{0}]}})", quoted(id), *id);
  };
  if (first) tokens = entry(first);
  if (last && last != first) tokens += (first ? "," : "") + entry(last);
  return fmt::format(R"({{"type":"TemplateProcessing","single":[{}],"pair":[{}],"special_tokens":{{{}}}}})", single,
                     pair, tokens);
}

struct Sections {
  std::string normalizer = "null", pre_tokenizer = "null", post_processor = "null", decoder = "null", model;
};

std::string whole(const Vocabulary& v, const Sections& s, bool strips = false) {
  std::string json = fmt::format(
      R"({{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{}],"normalizer":{},"pre_tokenizer":{},)"
      R"("post_processor":{},"decoder":{},"model":)",
      added_tokens(v, strips), s.normalizer, s.pre_tokenizer, s.post_processor, s.decoder);
  json.reserve(json.size() + s.model.size() + 1);
  json += s.model;
  json += '}';
  return json;
}

/// {"token":id,...}
void append_vocabulary(std::string& json, const Vocabulary& v) {
  json += '{';
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    if (v.types[id] == unused) continue;
    if (json.back() != '{') json += ',';
    v.append_quoted(json, id);
    json += ':';
    json += fmt::format_int(id).c_str();
  }
  json += '}';
}

std::string framed(const GgufMetadata& metadata, const Vocabulary& v, bool bos_otherwise, bool eos_otherwise) {
  const bool bos = metadata.boolean("tokenizer.ggml.add_bos_token").value_or(bos_otherwise);
  const bool eos = metadata.boolean("tokenizer.ggml.add_eos_token").value_or(eos_otherwise);
  const auto wanted = [&](bool wants, const std::string& name) -> std::optional<std::int64_t> {
    if (!wants) return std::nullopt;
    const std::optional<std::int64_t> id = token_id(metadata, v, name);
    check(id.has_value(), "\"tokenizer.ggml.{0}_token_id\" is missing, and each text is to have that token", name);
    return id;
  };
  return template_processing(v, wanted(bos, "bos"), wanted(eos, "eos"), false);
}

std::string byte_level_json(const GgufMetadata& metadata, const Vocabulary& v) {
  const std::string name = metadata.text("tokenizer.ggml.pre").value_or("default");
  const GgufPreTokenizer& pre = gguf_pre_tokenizer(name);
  Sections s;
  if (pre.nfc) s.normalizer = R"({"type":"NFC"})";
  s.pre_tokenizer = pre.steps.size() == 1
                        ? pre.steps[0]
                        : fmt::format(R"({{"type":"Sequence","pretokenizers":[{}]}})", fmt::join(pre.steps, ","));
  const std::string bytes = R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true})";
  const std::string frame = framed(metadata, v, pre.adds_bos, pre.adds_eos);
  s.post_processor = frame.empty() ? bytes : fmt::format(R"({{"type":"Sequence","processors":[{},{}]}})", bytes, frame);
  s.decoder = R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})";
  const std::vector<std::string>& pairs = metadata.texts("tokenizer.ggml.merges");
  s.model = fmt::format(
      R"({{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,)"
      R"("fuse_unk":false,"byte_fallback":false,"ignore_merges":{},"vocab":)",
      pre.ignore_merges);
  s.model.reserve(32 * (v.tokens.size() + pairs.size()));
  append_vocabulary(s.model, v);
  s.model += R"(,"merges":[)";
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    // A space within a token is written otherwise in the byte alphabet, so that there is one between the two.
    const std::size_t at = pairs[i].find(' ', 1);
    check(at != std::string::npos && at + 1 < pairs[i].size(),
          "\"tokenizer.ggml.merges\", entry {}: expected two tokens", i);
    append_pair(s.model, std::string_view(pairs[i]).substr(0, at), std::string_view(pairs[i]).substr(at + 1));
  }
  s.model += "]}";
  return whole(v, s);
}

/// The merges that SentencePiece's scores stand for: every way to make a token of two others, the best tokens first,
/// and of one token's ways those with the longest parts first, as Hugging Face's converter has them.
void append_merges_of_scores(std::string& json, const Vocabulary& v) {
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < v.tokens.size(); ++id)
    if (v.types[id] == normal || v.types[id] == user_defined) ids.emplace(v.tokens[id], id);
  struct Merge {
    double score;
    std::string_view left, right;
    std::size_t left_length, right_length;
  };
  std::vector<Merge> merges;
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    const std::string_view token = v.tokens[id];
    if (v.types[id] != normal) continue;
    for (std::size_t at = 1; at < token.size(); ++at) {
      if ((token[at] & 0xC0) == 0x80) continue;
      const std::string_view left = token.substr(0, at), right = token.substr(at);
      if (!ids.contains(left) || !ids.contains(right)) continue;
      merges.push_back({v.scores[id], left, right, code_points(left), code_points(right)});
    }
  }
  std::ranges::stable_sort(merges, [](const Merge& a, const Merge& b) {
    return std::tie(b.score, b.left_length, b.right_length) < std::tie(a.score, a.left_length, a.right_length);
  });
  for (const Merge& merge : merges) append_pair(json, merge.left, merge.right);
}

std::string sentence_piece_json(const GgufMetadata& metadata, const Vocabulary& v) {
  check(!v.scores.empty(), "\"tokenizer.ggml.scores\" is missing");
  const bool prefix = metadata.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  const std::string replace = fmt::format(R"({{"type":"Replace","pattern":{{"String":" "}},"content":"{}"}})", space);
  Sections s;
  s.normalizer = prefix ? fmt::format(R"({{"type":"Sequence","normalizers":[{{"type":"Prepend","prepend":"{}"}},{}]}})",
                                      space, replace)
                        : replace;
  s.decoder =
      fmt::format(R"({{"type":"Sequence","decoders":[{{"type":"Replace","pattern":{{"String":"{}"}},"content":" "}},)"
                  R"({{"type":"ByteFallback"}},{{"type":"Fuse"}}{}]}})",
                  space, prefix ? R"(,{"type":"Strip","content":" ","start":1,"stop":0})" : "");
  if (const std::string frame = framed(metadata, v, true, false); !frame.empty()) s.post_processor = frame;
  const std::optional<std::int64_t> none = token_id(metadata, v, "unknown");
  s.model = fmt::format(
      R"({{"type":"BPE","dropout":null,"unk_token":{},"continuing_subword_prefix":null,"end_of_word_suffix":null,)"
      R"("fuse_unk":true,"byte_fallback":true,"ignore_merges":false,"vocab":)",
      none ? v.quoted(static_cast<std::size_t>(*none)) : "null");
  append_vocabulary(s.model, v);
  s.model += R"(,"merges":[)";
  append_merges_of_scores(s.model, v);
  s.model += "]}";
  return whole(v, s, metadata.text("general.architecture") == "phi3");
}

/// In the file a token that begins a word has ▁ before it, and one that goes on in a word nothing: BERT's own form is
/// the other way round.
std::string word_piece_json(const GgufMetadata& metadata, const Vocabulary& v) {
  std::vector<std::string> tokens = v.tokens;
  Vocabulary own{tokens, v.types, {}};
  bool capitals = false;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (own.types[id] != normal) continue;
    std::string& token = tokens[id];
    if (token.starts_with(space))
      token.erase(0, 3);
    else if (!is_bracketed(token))  // [PAD] and the like stand as they are
      token.insert(0, "##");
    capitals |= std::ranges::any_of(token, [](char c) { return c >= 'A' && c <= 'Z'; }) && !is_bracketed(token);
  }
  const auto id_of = [&](std::initializer_list<const char*> names, const char* usual) -> std::int64_t {
    for (const char* name : names)
      if (auto id = token_id(metadata, own, name)) return *id;
    const auto found = std::ranges::find(own.tokens, usual);
    check(found != own.tokens.end(), "\"tokenizer.ggml.tokens\" has no {}, and no key names one in its place", usual);
    return found - own.tokens.begin();
  };
  const std::int64_t first = id_of({"cls", "bos"}, "[CLS]"), last = id_of({"seperator", "eos"}, "[SEP]");
  const std::int64_t none = id_of({"unknown"}, "[UNK]");
  for (std::int64_t id : {first, last, none}) own.types[static_cast<std::size_t>(id)] = control;
  Sections s;
  // No key says whether capitals count: they do where the vocabulary has any.
  s.normalizer = fmt::format(
      R"({{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":{}}})",
      !capitals);
  s.pre_tokenizer = R"({"type":"BertPreTokenizer"})";
  s.post_processor = template_processing(own, first, last, true);
  s.decoder = R"({"type":"WordPiece","prefix":"##","cleanup":true})";
  s.model = fmt::format(
      R"({{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":)",
      own.quoted(static_cast<std::size_t>(none)));
  append_vocabulary(s.model, own);
  s.model += '}';
  return whole(own, s);
}

std::string base64(const std::string& bytes) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : letters[(group >> (18 - 6 * k)) & 63];
  }
  return text;
}

std::string unigram_json(const GgufMetadata& metadata, const Vocabulary& v) {
  check(!v.scores.empty(), "\"tokenizer.ggml.scores\" is missing");
  const bool prefix = metadata.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  Sections s;
  std::vector<std::string> normalizers;
  if (const GgufValue* map = metadata.find("tokenizer.ggml.precompiled_charsmap"); map && map->size() > 0) {
    check(map->is_array() && map->element() == GgufValue::Type::u8,
          "\"tokenizer.ggml.precompiled_charsmap\" is not an array of u8");
    normalizers.push_back(fmt::format(R"({{"type":"Precompiled","precompiled_charsmap":"{}"}})", base64(map->bytes())));
  }
  const bool single_spaces = metadata.boolean("tokenizer.ggml.remove_extra_whitespaces").value_or(false);
  if (single_spaces) {
    normalizers.push_back(R"({"type":"Strip","strip_left":false,"strip_right":true})");
    normalizers.push_back(fmt::format(R"({{"type":"Replace","pattern":{{"Regex":" {{2,}}"}},"content":"{}"}})", space));
  }
  if (!normalizers.empty())
    s.normalizer = fmt::format(R"({{"type":"Sequence","normalizers":[{}]}})", fmt::join(normalizers, ","));
  s.pre_tokenizer = s.decoder =
      fmt::format(R"({{"type":"Metaspace","replacement":"{}","prepend_scheme":"{}","split":true}})", space,
                  prefix ? "always" : "never");
  // As Hugging Face's converter has it for T5 and XLM-R: then no white space of any kind is left.
  if (single_spaces)
    s.pre_tokenizer =
        fmt::format(R"({{"type":"Sequence","pretokenizers":[{{"type":"WhitespaceSplit"}},{}]}})", s.pre_tokenizer);
  if (const std::string frame = framed(metadata, v, false, true); !frame.empty()) s.post_processor = frame;
  const std::int64_t none = token_id(metadata, v, "unknown").value_or(2);
  s.model = fmt::format(R"({{"type":"Unigram","unk_id":{},"byte_fallback":false,"vocab":[)", none);
  for (std::size_t id = 0; id < v.tokens.size(); ++id)
    s.model += fmt::format("{}[{},{}]", id > 0 ? "," : "", v.quoted(id), v.scores[id]);
  s.model += "]}";
  return whole(v, s);
}

}  // namespace

bool is_bracketed(std::string_view token) { return token.size() > 2 && token.starts_with("[") && token.ends_with("]"); }

bool has_gguf_tokenizer(const GgufMetadata& metadata) {
  return metadata.find("tokenizer.huggingface.json") || metadata.find("tokenizer.ggml.tokens");
}

std::string gguf_tokenizer_json(const GgufMetadata& metadata) {
  if (std::optional<std::string> own = metadata.text("tokenizer.huggingface.json")) return *own;
  const std::string model = metadata.text("tokenizer.ggml.model").value_or("");
  const Vocabulary v = Vocabulary::read(metadata);
  if (model == "gpt2") return byte_level_json(metadata, v);
  if (model == "llama") return sentence_piece_json(metadata, v);
  if (model == "bert") return word_piece_json(metadata, v);
  check(model == "t5", "\"tokenizer.ggml.model\" is \"{}\": this program reads gpt2, llama, bert and t5", model);
  return unigram_json(metadata, v);
}

}  // namespace attune
