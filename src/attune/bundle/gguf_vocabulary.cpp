// tokenizer.json as the metadata of a GGUF file: the way back of gguf_tokenizer.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/gguf_pre_tokenizer.h"
#include "attune/bundle/gguf_tokenizer.h"

namespace attune {

namespace {

enum TokenType : std::int32_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

constexpr const char* space = "\u2581";  // ▁

std::string type_of(const Json& part) { return part.is_object() ? part.value("type", "") : ""; }

/// The parts of a Sequence, of sequences in it too; one part where it is none; nothing for null.
std::vector<Json> parts_of(const Json& part, const char* list) {
  if (!part.is_object()) return {};
  if (type_of(part) != "Sequence") return {part};
  std::vector<Json> parts;
  for (const Json& one : part[list])
    for (Json& inner : parts_of(one, list)) parts.push_back(std::move(inner));
  return parts;
}

bool has_part(const std::vector<Json>& parts, const std::string& type) {
  return std::ranges::any_of(parts, [&](const Json& part) { return type_of(part) == type; });
}

/// What of a pre-tokenizer decides where text is cut.
Json essence(const Json& step) {
  const std::string type = type_of(step);
  if (type == "ByteLevel") return {type, step.value("add_prefix_space", true), step.value("use_regex", true)};
  if (type == "Digits") return {type, step.value("individual_digits", false)};
  if (type == "Split") return {type, step["pattern"], step["behavior"], step.value("invert", false)};
  if (type == "Punctuation") return {type, step.value("behavior", "Isolated")};
  return step;
}

struct Frame {
  std::optional<std::int64_t> first, last;  // ids around a single text
};

Frame frame_of(const Json& post_processor) {
  Frame frame;
  for (const Json& part : parts_of(post_processor, "processors")) {
    const std::string type = type_of(part);
    if (type == "BertProcessing" || type == "RobertaProcessing")
      return {part["cls"][1].get<std::int64_t>(), part["sep"][1].get<std::int64_t>()};
    if (type != "TemplateProcessing") continue;
    bool behind = false;
    for (const Json& piece : part["single"]) {
      if (piece.contains("Sequence")) {
        behind = true;
        continue;
      }
      const Json& ids = part["special_tokens"][piece["SpecialToken"]["id"].get<std::string>()]["ids"];
      std::optional<std::int64_t>& place = behind ? frame.last : frame.first;
      check(ids.size() == 1 && !place,
            "its post_processor puts more than one token on a side of a text: a GGUF file has no place for that");
      place = ids[0].get<std::int64_t>();
    }
  }
  return frame;
}

/// The tokenizer on its way into a file.
class Writer {
 public:
  Writer(const Json& json, const GgufTokenizerFacts& facts) : json_(json), model_(json["model"]), facts_(facts) {
    normalizers_ = parts_of(json["normalizer"], "normalizers");
    steps_ = parts_of(json["pre_tokenizer"], "pretokenizers");
    const auto size = static_cast<std::size_t>(facts.vocab_size);
    tokens_.resize(size);
    types_.assign(size, unused);
    for (std::size_t id = 0; id < size; ++id) tokens_[id] = fmt::format("[PAD{}]", id);
  }

  void write(GgufMetadata& metadata) {
    const std::string type = type_of(model_);
    if (type == "BPE" && (has_part(steps_, "ByteLevel")))
      write_byte_level(metadata);
    else if (type == "BPE" && model_.value("byte_fallback", false))
      write_sentence_piece(metadata);
    else if (type == "WordPiece")
      write_word_piece(metadata);
    else if (type == "Unigram")
      write_unigram(metadata);
    else
      fail(
          "a {} tokenizer of this kind has no form in a GGUF file: byte-level BPE, BPE with byte fallback, WordPiece "
          "and Unigram have",
          type);
    metadata.set("tokenizer.ggml.tokens", GgufValue::texts(tokens_));
    metadata.set("tokenizer.ggml.token_type", GgufValue::i32s(types_));
    if (!scores_.empty()) metadata.set("tokenizer.ggml.scores", GgufValue::f32s(scores_));
    write_ids(metadata);
  }

 private:
  void set_token(std::int64_t id, const std::string& token, TokenType type) {
    check(id >= 0 && id < facts_.vocab_size, "the token {} has the id {}, and the model has embeddings for {} tokens",
          json_quoted(token), id, facts_.vocab_size);
    tokens_[static_cast<std::size_t>(id)] = token;
    types_[static_cast<std::size_t>(id)] = type;
  }

  void set_tokens() {
    if (model_["vocab"].is_array()) {
      for (std::size_t id = 0; id < model_["vocab"].size(); ++id)
        set_token(static_cast<std::int64_t>(id), model_["vocab"][id][0].get<std::string>(), normal);
    } else {
      for (const auto& [token, id] : model_["vocab"].items()) set_token(id.get<std::int64_t>(), token, normal);
    }
    for (const Json& added : json_["added_tokens"])
      set_token(added["id"].get<std::int64_t>(), added["content"].get<std::string>(),
                added.value("special", false) ? control : user_defined);
  }

  void set_unknown(const Json& token) {
    if (!token.is_string()) return;
    const auto found = std::ranges::find(tokens_, token.get<std::string>());
    if (found == tokens_.end()) return;
    unknown_ = found - tokens_.begin();
    types_[static_cast<std::size_t>(*unknown_)] = unknown;
  }

  void check_normalizers(bool only_nfc) const {
    for (const Json& one : normalizers_)
      check(only_nfc && type_of(one) == "NFC", "its normalizer {} has no form in a GGUF file of this kind of tokenizer",
            one.dump());
  }

  void write_byte_level(GgufMetadata& metadata) {
    check_normalizers(true);
    Json cuts = Json::array();
    for (const Json& step : steps_) cuts.push_back(essence(step));
    const bool ignore_merges = model_.value("ignore_merges", false);
    const GgufPreTokenizer* found = nullptr;
    for (const GgufPreTokenizer& one : gguf_pre_tokenizers()) {
      Json own = Json::array();
      for (const std::string& step : one.steps) own.push_back(essence(parse_json(step, one.names[0])));
      if (own == cuts && one.nfc == !normalizers_.empty() && one.ignore_merges == ignore_merges) {
        found = &one;
        break;
      }
    }
    check(found != nullptr, "its pre_tokenizer {}{}{} is none that has a name in GGUF files (\"tokenizer.ggml.pre\")",
          json_["pre_tokenizer"].dump(), normalizers_.empty() ? "" : " with NFC",
          ignore_merges ? " with ignore_merges" : "");
    set_tokens();
    metadata.set("tokenizer.ggml.model", GgufValue::text("gpt2"));
    metadata.set("tokenizer.ggml.pre", GgufValue::text(found->names[0]));
    std::vector<std::string> merges;
    for (const Json& merge : model_["merges"])
      merges.push_back(merge.is_array() ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                                        : merge.get<std::string>());
    metadata.set("tokenizer.ggml.merges", GgufValue::texts(std::move(merges)));
  }

  /// Whether a space is put before each text; an Error where spaces are not treated as SentencePiece treats them.
  bool space_prefix() const {
    bool prefix = false, replaced = false;
    for (const Json& one : normalizers_) {
      if (type_of(one) == "Prepend" && one["prepend"] == space)
        prefix = true;
      else if (type_of(one) == "Replace" && one["pattern"].value("String", "") == " " && one["content"] == space)
        replaced = true;
      else
        fail("its normalizer {} has no form in a GGUF file of this kind of tokenizer", one.dump());
    }
    for (const Json& step : steps_) {
      if (type_of(step) == "Metaspace" && !step.value("split", true)) {
        replaced = true;
        prefix = prefix || step.value("prepend_scheme", "always") != "never";
      } else {
        // Gemma's cut at spaces comes when there are none left.
        check(replaced && type_of(step) == "Split" && step["pattern"].value("String", "") == " ",
              "its pre_tokenizer {} has no form in a GGUF file of this kind of tokenizer", step.dump());
      }
    }
    check(replaced, "it does not write spaces as {}, as a GGUF file's BPE with byte fallback does", space);
    return prefix;
  }

  void write_sentence_piece(GgufMetadata& metadata) {
    metadata.set("tokenizer.ggml.model", GgufValue::text("llama"));
    metadata.set("tokenizer.ggml.pre", GgufValue::text("default"));
    metadata.set("tokenizer.ggml.add_space_prefix", GgufValue::boolean(space_prefix()));
    set_tokens();
    set_unknown(model_.value("unk_token", Json()));
    for (std::size_t id = 0; id < tokens_.size(); ++id)
      if (types_[id] == normal && tokens_[id].size() == 6 && tokens_[id].starts_with("<0x")) types_[id] = byte;
    // The earlier its first merge, the better a token: the order is all that merging looks at.
    const auto count = static_cast<float>(model_["merges"].size());
    std::unordered_map<std::string, float> scores;
    float rank = 0;
    for (const Json& merge : model_["merges"])
      scores.emplace(merge[0].get<std::string>() + merge[1].get<std::string>(), -rank), rank += 1;
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      const auto found = scores.find(tokens_[id]);
      scores_.push_back(types_[id] != normal ? 0 : found != scores.end() ? found->second : -count - 1);
    }
  }

  void write_word_piece(GgufMetadata& metadata) {
    metadata.set("tokenizer.ggml.model", GgufValue::text("bert"));
    metadata.set("tokenizer.ggml.pre", GgufValue::text("default"));
    check(model_.value("continuing_subword_prefix", "##") == "##" && normalizers_.size() == 1 &&
              type_of(normalizers_[0]) == "BertNormalizer",
          "only BERT's own WordPiece has a form in a GGUF file");
    set_tokens();
    const bool lower = normalizers_[0].value("lowercase", true);
    bool capitals = false;
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      std::string& token = tokens_[id];
      if (types_[id] != normal || is_bracketed(token)) continue;
      capitals |= std::ranges::any_of(token, [](char c) { return c >= 'A' && c <= 'Z'; });
      if (token.starts_with("##"))
        token.erase(0, 2);
      else
        token.insert(0, space);
    }
    check(lower != capitals,
          "a reader of the file would tell from the vocabulary that its texts are {}, and they are not",
          capitals ? "taken with capitals" : "made lower case");
    const auto found = std::ranges::find(tokens_, model_.value("unk_token", "[UNK]"));
    if (found != tokens_.end()) unknown_ = found - tokens_.begin();
    for (std::size_t id = 0; id < tokens_.size(); ++id)
      for (const auto& [text, key] : {std::pair("[PAD]", "padding"), std::pair("[MASK]", "mask")})
        if (tokens_[id] == text)
          metadata.set(fmt::format("tokenizer.ggml.{}_token_id", key), GgufValue::u32(static_cast<std::uint32_t>(id)));
    const Frame frame = frame_of(json_["post_processor"]);
    if (frame.first)
      metadata.set("tokenizer.ggml.cls_token_id", GgufValue::u32(static_cast<std::uint32_t>(*frame.first)));
    if (frame.last)
      metadata.set("tokenizer.ggml.seperator_token_id", GgufValue::u32(static_cast<std::uint32_t>(*frame.last)));
  }

  void write_unigram(GgufMetadata& metadata) {
    metadata.set("tokenizer.ggml.model", GgufValue::text("t5"));
    metadata.set("tokenizer.ggml.pre", GgufValue::text("default"));
    bool extra = false;
    for (const Json& one : normalizers_) {
      const std::string type = type_of(one);
      if (type == "Precompiled")
        metadata.set("tokenizer.ggml.precompiled_charsmap",
                     GgufValue::u8s(bytes_of_base64(one["precompiled_charsmap"])));
      else if (type == "Strip" || type == "Replace")
        extra = true;
      else
        fail("its normalizer {} has no form in a GGUF file of this kind of tokenizer", one.dump());
    }
    metadata.set("tokenizer.ggml.remove_extra_whitespaces",
                 GgufValue::boolean(extra || has_part(steps_, "WhitespaceSplit")));
    const auto meta = std::ranges::find_if(steps_, [](const Json& step) { return type_of(step) == "Metaspace"; });
    check(meta != steps_.end(), "its pre_tokenizer is not Metaspace: it has no form in a GGUF file");
    metadata.set("tokenizer.ggml.add_space_prefix",
                 GgufValue::boolean(meta->value("prepend_scheme", "always") != "never"));
    set_tokens();
    for (std::size_t id = 0; id < tokens_.size(); ++id)
      scores_.push_back(id < model_["vocab"].size() ? model_["vocab"][id][1].get<float>() : -1000.0f);
    if (!model_["unk_id"].is_null()) {
      unknown_ = model_["unk_id"].get<std::int64_t>();
      types_.at(static_cast<std::size_t>(*unknown_)) = unknown;
    }
  }

  static std::string bytes_of_base64(const std::string& text) {
    std::string bytes;
    std::uint32_t group = 0;
    int bits = 0;
    for (char c : text) {
      if (c == '=') break;
      const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                        : c >= 'a' && c <= 'z' ? c - 'a' + 26
                        : c >= '0' && c <= '9' ? c - '0' + 52
                        : c == '+'             ? 62
                                               : 63;
      group = group << 6 | static_cast<std::uint32_t>(value);
      bits += 6;
      if (bits >= 8) bytes += static_cast<char>((group >> (bits -= 8)) & 0xFF);
    }
    return bytes;
  }

  void write_ids(GgufMetadata& metadata) const {
    const Json& config = *facts_.config;
    const auto set = [&](const char* name, std::optional<std::int64_t> id) {
      if (id && *id >= 0)
        metadata.set(fmt::format("tokenizer.ggml.{}_token_id", name), GgufValue::u32(static_cast<std::uint32_t>(*id)));
    };
    const auto given = [&](const char* key, std::size_t i) -> std::optional<std::int64_t> {
      const Json value = config.value(key, Json());
      if (value.is_number_integer() && i == 0) return value.get<std::int64_t>();
      if (value.is_array() && i < value.size()) return value[i].get<std::int64_t>();
      return std::nullopt;
    };
    const Frame frame = frame_of(json_["post_processor"]);
    const bool bert = type_of(model_) == "WordPiece";
    set("bos", frame.first ? frame.first : given("bos_token_id", 0));
    set("eos", frame.last && !given("eos_token_id", 0) ? frame.last : given("eos_token_id", 0));
    check(!frame.last || bert || frame.last == given("eos_token_id", 0) || !given("eos_token_id", 0),
          "each text ends with token {}, and config.json's \"eos_token_id\" is another: a GGUF file has one",
          frame.last.value_or(0));
    set("eot", given("eos_token_id", 1));
    set("unknown", unknown_);
    if (!metadata.find("tokenizer.ggml.padding_token_id")) set("padding", given("pad_token_id", 0));
    metadata.set("tokenizer.ggml.add_bos_token", GgufValue::boolean(frame.first.has_value()));
    metadata.set("tokenizer.ggml.add_eos_token", GgufValue::boolean(frame.last.has_value()));
  }

  const Json& json_;
  const Json& model_;
  const GgufTokenizerFacts& facts_;
  std::vector<Json> normalizers_, steps_;
  std::vector<std::string> tokens_;
  std::vector<std::int32_t> types_;
  std::vector<float> scores_;
  std::optional<std::int64_t> unknown_;
};

}  // namespace

void add_gguf_tokenizer(GgufMetadata& metadata, const Tokenizer& tokenizer, const GgufTokenizerFacts& facts) {
  within("writing the tokenizer", [&] {
    const Json json = parse_json(tokenizer.json(), "tokenizer.json");
    Writer(json, facts).write(metadata);
  });
}

}  // namespace attune
