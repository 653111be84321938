#include <array>
#include <optional>
#include <vector>

#include "attune/text/charsmap.h"
#include "attune/text/sentencepiece.h"
#include "attune/text/string_table.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr std::string_view space_symbol = "\xE2\x96\x81";  // U+2581

/// What SentencePiece's normalizer does (normalizer.cc): at each place the longest key of the table, or the character
/// itself; runs of spaces become one and those at the ends go; spaces become U+2581, and one is put in front.
class SentencePieceNormalizer final : public Normalizer {
 public:
  SentencePieceNormalizer(const SentencePieceRules& rules, ByteTrie symbols, bool space_as_suffix)
      : symbols_(std::move(symbols)),
        dummy_(rules.dummy_prefix()),
        trim_(rules.remove_extra_spaces()),
        escape_(rules.escape_spaces()),
        suffix_(space_as_suffix) {
    if (const std::string map = rules.charsmap(); !map.empty()) map_ = Charsmap::read(map);
    for (std::size_t i = 0; i < 128; ++i) {
      const char code = static_cast<char>(i);
      const bool begins_symbol = symbols_.child(ByteTrie::root, code) != ByteTrie::none;
      plain_[i] = code != ' ' && !begins_symbol && !(map_ && map_->begins(code));
    }
  }

  void apply(AlignedText& text) const override {
    Writing out;
    const std::string_view in = text.bytes();
    std::size_t at = 0;
    while (trim_ && at < in.size()) {
      const auto [length, replacement] = step(in.substr(at));
      if (replacement != " ") break;
      at += length;
    }
    if (at == in.size()) return text.rewrite({}, {static_cast<std::uint32_t>(at)});
    out.text.reserve(in.size() + in.size() / 4);
    out.from.reserve(in.size() + in.size() / 4);
    const auto place = [&] { return static_cast<std::uint32_t>(at); };
    if (dummy_ && !suffix_) put_space(out, place());
    bool behind_space = trim_;
    while (at < in.size()) {
      if (const auto code = static_cast<unsigned char>(in[at]); code < 128 && plain_[code]) {
        out.text.push_back(in[at]);
        out.from.push_back(place());
        behind_space = false;
        ++at;
        continue;
      }
      auto [length, replacement] = step(in.substr(at));
      while (behind_space && replacement.starts_with(' ')) replacement.remove_prefix(1);
      for (char byte : replacement) {
        if (byte == ' ') {
          put_space(out, place());
        } else {
          out.text.push_back(byte);
          out.from.push_back(place());
        }
      }
      if (!replacement.empty()) behind_space = trim_ && replacement.ends_with(' ');
      at += length;
    }
    const std::string_view space = escape_ ? space_symbol : std::string_view(" ");
    while (trim_ && out.text.ends_with(space)) {
      at = out.from[out.text.size() - space.size()];
      out.text.resize(out.text.size() - space.size());
      out.from.resize(out.text.size());
    }
    if (dummy_ && suffix_) put_space(out, place());
    out.from.push_back(place());
    text.rewrite(std::move(out.text), out.from);
  }

 private:
  struct Writing {
    std::string text;
    std::vector<std::uint32_t> from;  // [bytes + 1], where each byte came from
  };

  void put_space(Writing& out, std::uint32_t from) const {
    const std::string_view space = escape_ ? space_symbol : std::string_view(" ");
    out.text.append(space);
    out.from.insert(out.from.end(), space.size(), from);
  }

  /// How many bytes are taken from the text, and what they become.
  std::pair<std::size_t, std::string_view> step(std::string_view text) const {
    if (const std::size_t symbol = symbols_.longest(text).first; symbol > 0) return {symbol, text.substr(0, symbol)};
    if (map_) {
      if (const auto match = map_->longest(text)) return {match->length, match->replacement};
    }
    const std::size_t length = utf8_length(text[0]);
    return {length, text.substr(0, length)};
  }

  ByteTrie symbols_;
  std::optional<Charsmap> map_;
  bool dummy_, trim_, escape_, suffix_;
  std::array<bool, 128> plain_{};  // nothing but itself begins here
};

/// Cuts before each run of U+2581.
class SentencePieceWords final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    pieces.split([&](const Piece& piece) {
      const std::string_view text = pieces.bytes(piece);
      std::size_t begin = 0;
      for (std::size_t at = text.find(space_symbol); at != std::string_view::npos;) {
        if (at > begin) {
          pieces.add({piece.text, piece.begin + static_cast<std::uint32_t>(begin),
                      piece.begin + static_cast<std::uint32_t>(at)});
          begin = at;
        }
        while (text.substr(at).starts_with(space_symbol)) at += space_symbol.size();
        at = text.find(space_symbol, at);
      }
      pieces.add({piece.text, piece.begin + static_cast<std::uint32_t>(begin), piece.end});
    });
  }
};

/// Turns tokens back into text (sentencepiece_processor.cc, Decode).
class SentencePieceDecoder final : public TokenDecoder {
 public:
  explicit SentencePieceDecoder(const SentencePieceFile& file)
      : unknown_surface_(file.unknown_surface()),
        drops_first_(file.normalizer.dummy_prefix() || file.normalizer.remove_extra_spaces()),
        drops_all_first_(file.normalizer.remove_extra_spaces()) {
    for (const SentencePiece& piece : file.pieces) {
      using Type = SentencePiece::Type;
      if (piece.type == Type::control) control_.add(piece.text);
      if (piece.type == Type::unknown) unknown_ = piece.text;
      if (piece.type == Type::byte) bytes_.add(piece.text);
      if (piece.type == Type::byte) byte_values_.push_back(std::stoi(piece.text.substr(3, 2), nullptr, 16));
    }
    if (file.denormalizer && !file.denormalizer->charsmap().empty())
      denormalizer_ = std::make_shared<SentencePieceNormalizer>(*file.denormalizer, ByteTrie(), false);
  }

  void apply(std::vector<std::string>& tokens) const override {
    std::string text, bytes;
    bool first = true, dropped = false;
    for (const std::string& token : tokens) {
      if (const std::int32_t byte = bytes_.find(token); byte >= 0) {
        bytes.push_back(static_cast<char>(byte_values_[static_cast<std::size_t>(byte)]));
        continue;
      }
      put_bytes(bytes, text);
      if (dropped || !text.empty()) first = false;
      dropped = put_token(token, first, text);
    }
    put_bytes(bytes, text);
    if (denormalizer_) {
      AlignedText whole(text, 0);
      denormalizer_->apply(whole);
      text = std::string(whole.bytes());
    }
    tokens.assign(1, std::move(text));
  }

 private:
  /// True where the space in front was taken away and none behind it may be.
  bool put_token(std::string_view token, bool first, std::string& text) const {
    if (control_.find(token) >= 0) return false;
    if (token == unknown_) return text += unknown_surface_, false;
    bool dropped = false;
    if (first && drops_first_ && token.starts_with(space_symbol)) {
      token.remove_prefix(space_symbol.size());
      dropped = !drops_all_first_;
    }
    for (std::size_t at = token.find(space_symbol); at != std::string_view::npos; at = token.find(space_symbol)) {
      text.append(token.substr(0, at)).push_back(' ');
      token.remove_prefix(at + space_symbol.size());
    }
    text.append(token);
    return dropped;
  }

  /// Each byte that belongs to no character becomes U+FFFD.
  static void put_bytes(std::string& bytes, std::string& text) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t length = utf8_length(bytes[at]);
      const std::string_view one = std::string_view(bytes).substr(at, length);
      const bool whole = one.size() == length && !find_invalid_utf8(one);
      text.append(whole ? one : std::string_view("\xEF\xBF\xBD"));
      at += whole ? length : 1;
    }
    bytes.clear();
  }

  StringTable control_, bytes_;
  std::vector<int> byte_values_;  // [bytes_]
  std::string unknown_, unknown_surface_;
  bool drops_first_, drops_all_first_;
  std::shared_ptr<const Normalizer> denormalizer_;
};

}  // namespace

ByteTrie user_symbols(const SentencePieceFile& file) {
  std::vector<std::pair<std::string_view, std::int32_t>> symbols;
  for (const SentencePiece& piece : file.pieces)
    if (piece.type == SentencePiece::Type::user_defined) symbols.push_back({piece.text, 0});
  return ByteTrie(std::move(symbols));
}

std::shared_ptr<const Normalizer> sentencepiece_normalizer(const SentencePieceFile& file) {
  return std::make_shared<SentencePieceNormalizer>(file.normalizer, user_symbols(file), file.space_as_suffix());
}

std::shared_ptr<const PreTokenizer> sentencepiece_words(const SentencePieceFile& file) {
  if (file.kind() != SentencePieceFile::Kind::bpe || !file.normalizer.escape_spaces()) return nullptr;
  bool space_known = false;
  for (const SentencePiece& piece : file.pieces) {
    std::string_view rest = piece.text;
    while (rest.starts_with(space_symbol)) rest.remove_prefix(space_symbol.size());
    if (rest.find(space_symbol) != std::string_view::npos || piece.type == SentencePiece::Type::unused) return nullptr;
    space_known |= piece.text == space_symbol && piece.type == SentencePiece::Type::normal;
  }
  if (!space_known) return nullptr;  // runs of unknown characters would cross
  return std::make_shared<SentencePieceWords>();
}

std::shared_ptr<const TokenDecoder> sentencepiece_decoder(const SentencePieceFile& file) {
  return std::make_shared<SentencePieceDecoder>(file);
}

}  // namespace attune
