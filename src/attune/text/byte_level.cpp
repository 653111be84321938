#include <vector>

#include "attune/text/byte_alphabet.h"
#include "attune/text/pattern.h"
#include "attune/text/pre_tokenizer.h"
#include "attune/text/unicode.h"

namespace attune {

namespace {

enum Kind : std::uint8_t { space, letter, number, other };

Kind find_kind(char32_t point) {
  return is_white_space(point) ? space : is_letter(point) ? letter : is_number(point) ? number : other;
}

Kind kind_of(char32_t point) {
  static const std::vector<Kind> table = [] {
    std::vector<Kind> kinds(0x3000);
    for (char32_t p = 0; p < kinds.size(); ++p) kinds[p] = find_kind(p);
    return kinds;
  }();
  return point < table.size() ? table[point] : find_kind(point);
}

/// Bytes of the contraction at `at`, where an apostrophe stands, or 0.
std::size_t contraction(std::string_view text, std::size_t at) {
  const char first = at + 1 < text.size() ? text[at + 1] : 0, second = at + 2 < text.size() ? text[at + 2] : 0;
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if ((first == 'r' || first == 'v') && second == 'e') return 3;
  return first == 'l' && second == 'l' ? 3 : 0;
}

std::size_t end_of_run(std::string_view text, std::size_t at, Kind kind) {
  while (at < text.size()) {
    std::size_t next = at;
    if (kind_of(next_code_point(text, next)) != kind) break;
    at = next;
  }
  return at;
}

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(const JsonView& json)
      : prefix_(json.flag("add_prefix_space")), split_(json.flag_or("use_regex", true)) {
    json.flag("trim_offsets");  // only the post-processor of the same name heeds it
  }

  void apply(Pieces& pieces) const override {
    if (prefix_)
      pieces.split([&](const Piece& piece) {
        if (pieces.bytes(piece).front() == ' ') return pieces.add(piece);
        AlignedText own = pieces.text(piece).part(piece.begin, piece.end);
        own.prepend(" ");
        const auto end = static_cast<std::uint32_t>(own.bytes().size());
        pieces.add({pieces.add_text(std::move(own)), 0, end});
      });
    if (split_) pieces.split([&](const Piece& piece) { split_as_gpt2(pieces, piece); });
    if (!leave_bytes_)
      pieces.change([](AlignedText& text) {
        text.expand([](char32_t point, AlignedText::Writer& writer) {
          std::string bytes;
          append_utf8(bytes, point);
          for (char byte : bytes) writer.put(byte_to_character(static_cast<unsigned char>(byte)));
        });
      });
  }

  bool ends_in_byte_level() const override { return true; }
  void leave_bytes() override { leave_bytes_ = true; }

 private:
  bool prefix_, split_, leave_bytes_ = false;
};

class MetaspaceSplit final : public PreTokenizer {
 public:
  explicit MetaspaceSplit(Metaspace settings) : settings_(std::move(settings)) {}

  void apply(Pieces& pieces) const override {
    const Regex spaces = Regex::literal(" "), marks = Regex::literal(settings_.replacement);
    std::vector<Span> matches;
    pieces.split([&](const Piece& piece) {
      const bool first = pieces.origin(piece).begin == 0;
      AlignedText own = pieces.text(piece).part(piece.begin, piece.end);
      spaces.find_all(own.bytes(), matches);
      own.replace(matches, settings_.replacement);
      const bool wanted =
          settings_.prepend == Metaspace::Prepend::always || (settings_.prepend == Metaspace::Prepend::first && first);
      if (wanted && !own.bytes().starts_with(settings_.replacement)) own.prepend(settings_.replacement);
      const auto end = static_cast<std::uint32_t>(own.bytes().size());
      const Piece whole{pieces.add_text(std::move(own)), 0, end};
      if (!settings_.split) return pieces.add(whole);
      marks.find_all(pieces.bytes(whole), matches);
      pieces.split_at(whole, matches, SplitBehavior::merged_with_next);
    });
  }

 private:
  Metaspace settings_;
};

}  // namespace

void split_as_gpt2(Pieces& pieces, const Piece& piece) {
  const std::string_view text = pieces.bytes(piece);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    std::size_t next = at;
    const char32_t point = next_code_point(text, next);
    const Kind kind = kind_of(point);
    const std::size_t short_form = point == '\'' ? contraction(text, at) : 0;
    if (short_form > 0) {
      at += short_form;
    } else if (kind != space) {
      at = end_of_run(text, next, kind);
    } else {
      std::size_t behind = next;
      const Kind following = next < text.size() ? kind_of(next_code_point(text, behind)) : space;
      if (point == ' ' && following != space) {
        at = end_of_run(text, behind, following);
      } else {
        at = end_of_run(text, next, space);
        // A longer run leaves its last character to the word behind it.
        if (at < text.size() && at > next) previous_code_point(text, at);
      }
    }
    pieces.add(
        {piece.text, piece.begin + static_cast<std::uint32_t>(begin), piece.begin + static_cast<std::uint32_t>(at)});
  }
}

std::shared_ptr<PreTokenizer> read_byte_level_pre_tokenizer(const JsonView& json) {
  json.only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  return std::make_shared<ByteLevel>(json);
}

Metaspace Metaspace::read(const JsonView& json) {
  json.only({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
  Metaspace result;
  append_utf8(result.replacement, read_character(json.at("replacement")));
  const std::string scheme = json.string_or("prepend_scheme", "always");
  if (scheme != "first" && scheme != "never" && scheme != "always")
    json.at("prepend_scheme").reject("is \"{}\": expected one of first, never, always", scheme);
  result.prepend = scheme == "first" ? Prepend::first : scheme == "never" ? Prepend::never : Prepend::always;
  if (json.has("add_prefix_space") && !json.flag("add_prefix_space")) {
    if (json.has("prepend_scheme") && result.prepend != Prepend::never)
      json.reject("add_prefix_space is false, but prepend_scheme is \"{}\"", scheme);
    result.prepend = Prepend::never;
  }
  result.split = json.flag_or("split", true);
  return result;
}

std::shared_ptr<PreTokenizer> read_metaspace_pre_tokenizer(const JsonView& json) {
  return std::make_shared<MetaspaceSplit>(Metaspace::read(json));
}

}  // namespace attune
