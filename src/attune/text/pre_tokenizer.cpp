#include "attune/text/pre_tokenizer.h"
#include <vector>

#include "attune/text/pattern.h"
#include "attune/text/unicode.h"

namespace attune {

namespace {

/// Splits at the characters for which `is_delimiter` holds.
template <class IsDelimiter>
void split_at_characters(Pieces& pieces, SplitBehavior behavior, IsDelimiter&& is_delimiter) {
  std::vector<Span> matches;
  pieces.split([&](const Piece& piece) {
    const std::string_view text = pieces.bytes(piece);
    matches.clear();
    for (std::size_t i = 0; i < text.size();) {
      const auto begin = static_cast<std::uint32_t>(i);
      if (is_delimiter(next_code_point(text, i))) matches.push_back({begin, static_cast<std::uint32_t>(i)});
    }
    pieces.split_at(piece, matches, behavior);
  });
}

/// Splits into runs of characters of one class; runs of class 0 are dropped, characters of class 1 stand alone.
template <class ClassOf>
void split_by_class(Pieces& pieces, ClassOf&& class_of) {
  pieces.split([&](const Piece& piece) {
    const std::string_view text = pieces.bytes(piece);
    std::uint32_t begin = 0;
    int open = 0;
    const auto close = [&](std::uint32_t end) {
      if (open != 0) pieces.add({piece.text, piece.begin + begin, piece.begin + end});
      begin = end;
    };
    for (std::size_t i = 0; i < text.size();) {
      const auto at = static_cast<std::uint32_t>(i);
      const int kind = class_of(next_code_point(text, i));
      if (kind != open || kind == 1) close(at);
      open = kind;
    }
    close(static_cast<std::uint32_t>(text.size()));
  });
}

int bert_class(char32_t point) {
  if (point < 0x80) {
    static constexpr auto table = [] {
      std::array<std::int8_t, 128> classes{};
      for (int c = 0; c < 128; ++c) {
        const bool space = c == ' ' || (c >= 9 && c <= 13);
        const bool mark =
            (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
        classes[static_cast<std::size_t>(c)] = space ? 0 : mark ? 1 : 2;
      }
      return classes;
    }();
    return table[point];
  }
  return is_white_space(point) ? 0 : is_old_punctuation(point) ? 1 : 2;
}

class BertPreTokenizer final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override { split_by_class(pieces, bert_class); }
};

class WhitespaceSplit final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    split_by_class(pieces, [](char32_t point) { return is_white_space(point) ? 0 : 2; });
  }
};

class Whitespace final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    split_by_class(pieces, [](char32_t p) { return is_white_space(p) ? 0 : is_word_character(p) ? 2 : 3; });
  }
};

class Punctuation final : public PreTokenizer {
 public:
  explicit Punctuation(SplitBehavior behavior) : behavior_(behavior) {}
  void apply(Pieces& pieces) const override { split_at_characters(pieces, behavior_, is_old_punctuation); }

 private:
  SplitBehavior behavior_;
};

class Digits final : public PreTokenizer {
 public:
  explicit Digits(bool individual) : behavior_(individual ? SplitBehavior::isolated : SplitBehavior::contiguous) {}
  void apply(Pieces& pieces) const override { split_at_characters(pieces, behavior_, is_number); }

 private:
  SplitBehavior behavior_;
};

class CharDelimiterSplit final : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}
  void apply(Pieces& pieces) const override {
    split_at_characters(pieces, SplitBehavior::removed, [&](char32_t point) { return point == delimiter_; });
  }

 private:
  char32_t delimiter_;
};

/// Splits where the script changes. What has no script (a space) belongs to what is around it.
class UnicodeScripts final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    pieces.split([&](const Piece& piece) {
      const std::string_view text = pieces.bytes(piece);
      std::uint32_t begin = 0;
      bool first = true;
      int last = -1;
      for (std::size_t i = 0; i < text.size();) {
        const auto at = static_cast<std::uint32_t>(i);
        const int script = old_script(next_code_point(text, i));
        if (script == 0) continue;
        if (script != last) {
          // The reference splits before the first character that has a script, too, and drops what stands before it.
          if (!first) pieces.add({piece.text, piece.begin + begin, piece.begin + at});
          begin = at;
          first = false;
        }
        last = script;
      }
      if (!first) pieces.add({piece.text, piece.begin + begin, piece.end});
    });
  }
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::int64_t length) : length_(length) {}
  void apply(Pieces& pieces) const override {
    pieces.split([&](const Piece& piece) {
      const std::string_view text = pieces.bytes(piece);
      for (std::size_t i = 0; i < text.size();) {
        const auto begin = static_cast<std::uint32_t>(i);
        for (std::int64_t k = 0; k < length_ && i < text.size(); ++k) i += utf8_length(text[i]);
        pieces.add({piece.text, piece.begin + begin, piece.begin + static_cast<std::uint32_t>(i)});
      }
    });
  }

 private:
  std::int64_t length_;
};

class PatternSplit final : public PreTokenizer {
 public:
  explicit PatternSplit(const JsonView& json)
      : pattern_(read_pattern(json.at("pattern"))),
        behavior_(read_behavior(json.at("behavior"))),
        inverted_(json.flag("invert")) {}
  void apply(Pieces& pieces) const override {
    std::vector<Span> matches;
    pieces.split([&](const Piece& piece) {
      pattern_.find_all(pieces.bytes(piece), matches);
      pieces.split_at(piece, matches, behavior_, inverted_);
    });
  }

 private:
  Regex pattern_;
  SplitBehavior behavior_;
  bool inverted_;
};

class Sequence final : public PreTokenizer {
 public:
  Sequence(const JsonView& json, int depth) {
    json.at("pretokenizers").each_element([&](const JsonView& part) {
      if (auto read = PreTokenizer::read(part, depth)) parts_.push_back(std::move(read));
    });
  }
  void apply(Pieces& pieces) const override {
    for (const auto& part : parts_) part->apply(pieces);
  }
  bool ends_in_byte_level() const override { return !parts_.empty() && parts_.back()->ends_in_byte_level(); }
  void leave_bytes() override { parts_.back()->leave_bytes(); }

 private:
  std::vector<std::shared_ptr<PreTokenizer>> parts_;
};

}  // namespace

std::shared_ptr<PreTokenizer> PreTokenizer::read(const JsonView& json, int depth) {
  if (json.is_null()) return nullptr;
  if (depth > 16) json.reject("is nested more than 16 deep");
  const std::string type = json.string("type");
  if (type == "ByteLevel") return read_byte_level_pre_tokenizer(json);
  if (type == "Metaspace") return read_metaspace_pre_tokenizer(json);
  if (type == "Sequence") {
    json.only({"type", "pretokenizers"});
    return std::make_shared<Sequence>(json, depth + 1);
  }
  if (type == "Split") {
    json.only({"type", "pattern", "behavior", "invert"});
    return std::make_shared<PatternSplit>(json);
  }
  if (type == "Punctuation") {
    json.only({"type", "behavior"});
    return std::make_shared<Punctuation>(json.has("behavior") ? read_behavior(json.at("behavior"))
                                                              : SplitBehavior::isolated);
  }
  if (type == "Digits") {
    json.only({"type", "individual_digits"});
    return std::make_shared<Digits>(json.flag("individual_digits"));
  }
  if (type == "CharDelimiterSplit") {
    json.only({"type", "delimiter"});
    return std::make_shared<CharDelimiterSplit>(read_character(json.at("delimiter")));
  }
  if (type == "FixedLength") {
    json.only({"type", "length"});
    return std::make_shared<FixedLength>(json.has_key("length") ? json.at("length").integer(1, 1 << 30) : 5);
  }
  const bool simple =
      type == "BertPreTokenizer" || type == "Whitespace" || type == "WhitespaceSplit" || type == "UnicodeScripts";
  if (!simple)
    json.reject(
        "the pre-tokenizer \"{}\" is not supported: expected ByteLevel, BertPreTokenizer, Whitespace, "
        "WhitespaceSplit, "
        "Split, Punctuation, Digits, Metaspace, CharDelimiterSplit, UnicodeScripts, FixedLength or Sequence",
        type);
  json.only({"type"});
  if (type == "BertPreTokenizer") return std::make_shared<BertPreTokenizer>();
  if (type == "UnicodeScripts") return std::make_shared<UnicodeScripts>();
  if (type == "Whitespace") return std::make_shared<Whitespace>();
  return std::make_shared<WhitespaceSplit>();
}

}  // namespace attune
