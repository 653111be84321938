#include <algorithm>
#include <array>
#include <vector>

#include "attune/text/charsmap.h"
#include "attune/text/grapheme.h"
#include "attune/text/normalizer.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

/// SentencePiece's table of replacements, applied as Hugging Face's tokenizers do: a grapheme cluster of less than 6
/// bytes that begins with a key is replaced as a whole by what stands for the SHORTEST such key; of other clusters each
/// character by itself. SentencePiece itself replaces the longest key at each place (sentencepiece_normalizer.cpp).
class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {
    for (std::size_t i = 0; i < ascii_.size(); ++i) {
      const char code = static_cast<char>(i);
      const auto match = map_.shortest(std::string_view(&code, 1));
      const bool one = match && match->replacement.size() == 1;
      ascii_[i] = {one ? match->replacement[0] : code, one || !match};
    }
    ascii_['\r'].single = false;  // may begin a cluster of two
  }

  void apply(AlignedText& text) const override {
    const std::string_view bytes = text.bytes();
    bool single = true, same = true;  // each byte stays or becomes one other byte
    for (char byte : bytes) {
      const auto code = static_cast<unsigned char>(byte);
      if (code >= 128 || !ascii_[code].single) {
        single = false;
        break;
      }
      same &= ascii_[code].becomes == byte;
    }
    if (single && same) return;
    if (single) return text.change_bytes([&](char c) { return ascii_[static_cast<unsigned char>(c)].becomes; });

    std::vector<AlignedText::Transformed> result;
    result.reserve(bytes.size());
    bool changed = false;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t end = end_of_cluster(bytes, at);
      const std::string_view cluster = bytes.substr(at, end - at);
      at = end;
      if (cluster.size() < 6) {
        if (const auto match = map_.shortest(cluster)) {
          replace(cluster, match->replacement, result);
          changed = true;
          continue;
        }
      }
      for (std::size_t i = 0; i < cluster.size();) {
        const std::string_view one = cluster.substr(i, utf8_length(cluster[i]));
        std::size_t next = i;
        const char32_t point = next_code_point(cluster, next);
        i = next;
        if (const auto match = map_.shortest(one)) {
          replace(one, match->replacement, result);
          changed = true;
        } else {
          result.push_back({point, 0});
        }
      }
    }
    if (changed) text.transform(result);
  }

 private:
  struct Ascii {
    char becomes = 0;
    bool single = true;
  };

  /// The changes that stand for a replacement; a deficit is charged to the character before, whichever it is.
  static void replace(std::string_view from, std::string_view to, std::vector<AlignedText::Transformed>& result) {
    const auto before = static_cast<std::int32_t>(code_points(from)),
               after = static_cast<std::int32_t>(code_points(to));
    for (std::size_t i = 0; i < to.size();) result.push_back({next_code_point(to, i), 0});
    for (std::int32_t i = 0; i < after - before; ++i)
      result[result.size() - 1 - static_cast<std::size_t>(i)].change = 1;
    if (after < before && !result.empty()) result.back().change += after - before;
  }

  Charsmap map_;
  std::array<Ascii, 128> ascii_{};
};

/// SentencePiece's rule "nmt" as Hugging Face has it: some control characters go, others and what is like white space
/// become a space.
class Nmt final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    const std::string_view bytes = text.bytes();
    bool same = true, single = true;  // each byte stays or becomes a space
    for (char byte : bytes) {
      const bool plain = byte >= ' ' && byte < 127,
                 blank = byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r';
      same &= plain;
      single &= plain || blank;
    }
    if (same) return;
    if (single) return text.change_bytes([](char byte) { return byte < ' ' ? ' ' : byte; });
    text.expand([](char32_t p, AlignedText::Writer& writer) {
      const bool dropped =
          (p >= 1 && p <= 8) || p == 0xB || (p >= 0xE && p <= 0x1F) || p == 0x7F || p == 0x8F || p == 0x9F;
      const bool blank = p == 9 || p == 0xA || p == 0xC || p == 0xD || p == 0x1680 || (p >= 0x200B && p <= 0x200F) ||
                         p == 0x2028 || p == 0x2029 || p == 0x2581 || p == 0xFEFF || p == 0xFFFD;
      if (!dropped) writer.put(blank ? U' ' : p);
    });
  }
};

}  // namespace

std::shared_ptr<const Normalizer> read_precompiled(const JsonView& json) {
  json.only({"type", "precompiled_charsmap"});
  const JsonView map = json.at("precompiled_charsmap");
  try {
    return std::make_shared<Precompiled>(Charsmap::read(decode_base64(map.string())));
  } catch (const Error& error) {
    map.reject("{}", error.what());
  }
}

std::shared_ptr<const Normalizer> read_nmt(const JsonView& json) {
  json.only({"type"});
  return std::make_shared<Nmt>();
}

}  // namespace attune
