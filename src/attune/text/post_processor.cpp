#include "attune/text/post_processor.h"

#include <algorithm>
#include <map>

namespace attune {

namespace {

constexpr std::int64_t largest_id = 0x7FFFFFFF;

Token special_token(std::int32_t id, std::int32_t type) { return {id, 0, 0, type, -1, -1}; }

/// Takes white space out of the offsets of byte-level tokens, but not the space that the pre-tokenizer itself put in
/// front.
void trim_offsets(TokenList& tokens, bool prefix_space, const PostProcessor::Context& context) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Token& token = tokens[i];
    const Margins margins = (*context.margins)(token);
    auto leading = static_cast<std::int32_t>(margins.leading);
    const auto trailing = static_cast<std::int32_t>(margins.trailing);
    if (leading > 0) {
      if ((i == 0 || token.begin == 0) && prefix_space && leading == 1) leading = 0;
      token.begin = std::min(token.begin + leading, token.end);
    }
    if (trailing > 0 && token.end >= trailing) token.end = std::max(token.end - trailing, token.begin);
  }
}

class ByteLevel final : public PostProcessor {
 public:
  explicit ByteLevel(const JsonView& json)
      : prefix_space_(json.flag("add_prefix_space")), trim_(json.flag("trim_offsets")) {}
  void apply(std::vector<TokenList>& sequences, const Context& context) const override {
    if (!trim_) return;
    for (TokenList& tokens : sequences) trim_offsets(tokens, prefix_space_, context);
  }
  bool trims_offsets() const override { return trim_; }

 private:
  bool prefix_space_, trim_;
};

std::int32_t read_id(const JsonView& json) { return static_cast<std::int32_t>(json.integer(0, largest_id)); }

/// ["[SEP]", 102]
std::int32_t read_token_and_id(const JsonView& json) {
  std::int32_t id = 0;
  std::size_t index = 0;
  if (!json.is_array() || json.size() != 2) json.reject("expected [\"token\", id]");
  json.each_element([&](const JsonView& part) {
    if (index++ == 0) {
      part.string();
    } else {
      id = read_id(part);
    }
  });
  return id;
}

/// BERT's [CLS] A [SEP] B [SEP], or RoBERTa's <s> A </s></s> B </s>.
class Framing final : public PostProcessor {
 public:
  Framing(const JsonView& json, bool roberta)
      : separator_(read_token_and_id(json.at("sep"))), start_(read_token_and_id(json.at("cls"))), roberta_(roberta) {
    if (!roberta) return;
    trim_ = json.flag("trim_offsets");
    prefix_space_ = json.flag("add_prefix_space");
  }

  void apply(std::vector<TokenList>& sequences, const Context& context) const override {
    for (TokenList& tokens : sequences) {
      if (trim_) trim_offsets(tokens, prefix_space_, context);
      if (roberta_)
        for (Token& token : tokens) token.type = 0;
    }
    if (!context.add_special_tokens) return;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      TokenList& tokens = sequences[i];
      const std::int32_t type = i > 0 && !roberta_ ? 1 : 0;
      // What an earlier post-processor added counts as text from here on.
      for (Token& token : tokens)
        if (token.sequence < 0) token.sequence = static_cast<std::int8_t>(std::min<std::size_t>(i, 1));
      if (i == 0) tokens.insert(tokens.begin(), special_token(start_, 0));
      if (i > 0 && roberta_) tokens.insert(tokens.begin(), special_token(separator_, 0));
      tokens.push_back(special_token(separator_, type));
    }
  }
  bool trims_offsets() const override { return trim_; }

 private:
  std::int32_t separator_, start_;
  bool roberta_, trim_ = false, prefix_space_ = false;
};

class Template final : public PostProcessor {
 public:
  explicit Template(const JsonView& json) {
    json.at("special_tokens").each_member([&](std::string_view name, const JsonView& token) {
      token.only({"id", "ids", "tokens"});
      if (token.string("id") != name) token.at("id").reject("is not \"{}\"", name);
      std::vector<std::int32_t> ids;
      token.at("ids").each_element([&](const JsonView& id) { ids.push_back(read_id(id)); });
      std::size_t tokens = 0;
      token.at("tokens").each_element([&](const JsonView& text) { text.string(), ++tokens; });
      if (tokens != ids.size()) token.reject("has {} ids for {} tokens", ids.size(), tokens);
      special_.emplace(name, std::move(ids));
    });
    single_ = read_pieces(json.at("single"), false);
    pair_ = read_pieces(json.at("pair"), true);
  }

  void apply(std::vector<TokenList>& sequences, const Context& context) const override {
    check(sequences.size() == 1 || sequences.size() == 2,
          "a TemplateProcessing is given {} sequences by the post-processor before it: expected 1 or 2",
          sequences.size());
    std::vector<TokenList> result;
    for (const Part& part : sequences.size() > 1 ? pair_ : single_) {
      TokenList tokens;
      if (part.sequence >= 0) {
        tokens = sequences[static_cast<std::size_t>(part.sequence)];
        for (Token& token : tokens) token.type = part.type;
      } else if (context.add_special_tokens) {
        for (std::int32_t id : part.ids) tokens.push_back(special_token(id, part.type));
      }
      result.push_back(std::move(tokens));
    }
    sequences = std::move(result);
  }

 private:
  struct Part {
    int sequence;  // 0, 1, or -1 for special tokens
    std::int32_t type;
    std::vector<std::int32_t> ids;
  };

  std::vector<Part> read_pieces(const JsonView& json, bool pair) const {
    std::vector<Part> parts;
    bool has[2] = {false, false};
    json.each_element([&](const JsonView& piece) {
      piece.only({"Sequence", "SpecialToken"});
      if (piece.size() != 1) piece.reject("expected {{\"Sequence\": ...}} or {{\"SpecialToken\": ...}}");
      const bool sequence = piece.has("Sequence");
      const JsonView inside = piece.at(sequence ? "Sequence" : "SpecialToken");
      inside.only({"id", "type_id"});
      const std::string id = inside.string("id");
      Part part{-1, static_cast<std::int32_t>(inside.at("type_id").integer(0, largest_id)), {}};
      if (sequence) {
        if (id != "A" && id != "B") inside.at("id").reject("is \"{}\": expected A or B", id);
        part.sequence = id == "B";
        if (part.sequence == 1 && !pair) inside.reject("the template of single sequences uses B");
        has[part.sequence] = true;
      } else {
        const auto found = special_.find(id);
        if (found == special_.end()) inside.at("id").reject("\"{}\" is not among special_tokens", id);
        part.ids = found->second;
      }
      parts.push_back(std::move(part));
    });
    if (pair && !(has[0] && has[1])) json.reject("the template of pairs must use A and B");
    return parts;
  }

  std::map<std::string, std::vector<std::int32_t>, std::less<>> special_;
  std::vector<Part> single_, pair_;
};

class Sequence final : public PostProcessor {
 public:
  Sequence(const JsonView& json, int depth) {
    json.at("processors").each_element([&](const JsonView& part) {
      auto read = PostProcessor::read(part, depth);
      if (read) parts_.push_back(std::move(read));
    });
  }
  void apply(std::vector<TokenList>& sequences, const Context& context) const override {
    for (const auto& part : parts_) part->apply(sequences, context);
  }
  bool trims_offsets() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->trims_offsets(); });
  }

 private:
  std::vector<std::shared_ptr<const PostProcessor>> parts_;
};

}  // namespace

std::shared_ptr<const PostProcessor> PostProcessor::read(const JsonView& json, int depth) {
  if (json.is_null()) return nullptr;
  if (depth > 16) json.reject("is nested more than 16 deep");
  const std::string type = json.string("type");
  if (type == "ByteLevel") {
    json.only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return std::make_shared<ByteLevel>(json);
  }
  if (type == "BertProcessing") {
    json.only({"type", "sep", "cls"});
    return std::make_shared<Framing>(json, false);
  }
  if (type == "RobertaProcessing") {
    json.only({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
    return std::make_shared<Framing>(json, true);
  }
  if (type == "TemplateProcessing") {
    json.only({"type", "single", "pair", "special_tokens"});
    return std::make_shared<Template>(json);
  }
  if (type == "Sequence") {
    json.only({"type", "processors"});
    return std::make_shared<Sequence>(json, depth + 1);
  }
  json.reject(
      "the post-processor \"{}\" is not supported: expected ByteLevel, BertProcessing, RobertaProcessing, "
      "TemplateProcessing or Sequence",
      type);
}

}  // namespace attune
