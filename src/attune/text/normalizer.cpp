#include "attune/text/normalizer.h"

#include <vector>

#include "attune/text/byte_alphabet.h"
#include "attune/text/normal_form.h"
#include "attune/text/pattern.h"
#include "attune/text/unicode.h"

namespace attune {

namespace {

class ToNormalForm final : public Normalizer {
 public:
  explicit ToNormalForm(NormalForm form) : form_(form) {}
  void apply(AlignedText& text) const override { apply_normal_form(text, form_); }

 private:
  NormalForm form_;
};

class Lowercase final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    if (is_ascii(text.bytes()))
      return text.change_bytes([](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    text.expand([](char32_t point, AlignedText::Writer& writer) {
      const Mapping lower = lower_case(point);
      for (int i = 0; i < lower.size; ++i) writer.put(lower.points[i]);
    });
  }
};

class StripAccents final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    if (is_ascii(text.bytes())) return;
    text.expand([](char32_t point, AlignedText::Writer& writer) {
      if (!is_old_mark(point)) writer.put(point);
    });
  }
};

class Strip final : public Normalizer {
 public:
  explicit Strip(const JsonView& json) : left_(json.flag("strip_left")), right_(json.flag("strip_right")) {}
  void apply(AlignedText& text) const override {
    const std::string_view bytes = text.bytes();
    std::size_t begin = 0, end = bytes.size();
    for (std::size_t next = 0; left_ && next < end && is_white_space(next_code_point(bytes, next));) begin = next;
    for (std::size_t next = end; right_ && next > begin && is_white_space(previous_code_point(bytes, next));)
      end = next;
    text.keep(begin, end);
  }

 private:
  bool left_, right_;
};

class Replace final : public Normalizer {
 public:
  explicit Replace(const JsonView& json)
      : pattern_(read_pattern(json.at("pattern"))), content_(json.string("content")) {}
  void apply(AlignedText& text) const override {
    std::vector<Span> matches;
    pattern_.find_all(text.bytes(), matches);
    text.replace(matches, content_);
  }

 private:
  Regex pattern_;
  std::string content_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}
  void apply(AlignedText& text) const override { text.prepend(prefix_); }

 private:
  std::string prefix_;
};

class ByteLevel final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    text.expand([](char32_t point, AlignedText::Writer& writer) {
      std::string bytes;
      append_utf8(bytes, point);
      for (char byte : bytes) writer.put(byte_to_character(static_cast<unsigned char>(byte)));
    });
  }
};

class Sequence final : public Normalizer {
 public:
  Sequence(const JsonView& json, int depth) {
    json.at("normalizers").each_element([&](const JsonView& part) { parts_.push_back(Normalizer::read(part, depth)); });
  }
  void apply(AlignedText& text) const override {
    for (const auto& part : parts_)
      if (part) part->apply(text);
  }

 private:
  std::vector<std::shared_ptr<const Normalizer>> parts_;
};

}  // namespace

std::shared_ptr<const Normalizer> Normalizer::read(const JsonView& json, int depth) {
  if (json.is_null()) return nullptr;
  if (depth > 16) json.reject("is nested more than 16 deep");
  const std::string type = json.string("type");
  if (type == "BertNormalizer") return read_bert_normalizer(json);
  if (type == "Precompiled") return read_precompiled(json);
  if (type == "Nmt") return read_nmt(json);
  if (type == "Sequence") {
    json.only({"type", "normalizers"});
    return std::make_shared<Sequence>(json, depth + 1);
  }
  if (type == "Strip") {
    json.only({"type", "strip_left", "strip_right"});
    return std::make_shared<Strip>(json);
  }
  if (type == "Replace") {
    json.only({"type", "pattern", "content"});
    return std::make_shared<Replace>(json);
  }
  if (type == "Prepend") {
    json.only({"type", "prepend"});
    return std::make_shared<Prepend>(json.string("prepend"));
  }
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    json.only({"type"});
    return std::make_shared<ToNormalForm>(type == "NFC"    ? NormalForm::nfc
                                          : type == "NFD"  ? NormalForm::nfd
                                          : type == "NFKC" ? NormalForm::nfkc
                                                           : NormalForm::nfkd);
  }
  const bool simple = type == "Lowercase" || type == "StripAccents" || type == "ByteLevel";
  if (!simple)
    json.reject(
        "the normalizer \"{}\" is not supported: expected BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, "
        "StripAccents, Strip, Replace, Prepend, Precompiled, Nmt, ByteLevel or Sequence",
        type);
  json.only({"type"});
  if (type == "Lowercase") return std::make_shared<Lowercase>();
  if (type == "StripAccents") return std::make_shared<StripAccents>();
  return std::make_shared<ByteLevel>();
}

}  // namespace attune
