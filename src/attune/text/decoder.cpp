#include "attune/text/decoder.h"

#include <algorithm>

#include "attune/text/byte_alphabet.h"
#include "attune/text/pattern.h"
#include "attune/text/pre_tokenizer.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) {  // as Rust's replace: before each character and at the end
    std::string all(to);
    for (std::size_t i = 0; i < text.size();) {
      const std::uint32_t length = utf8_length(text[i]);
      all.append(text, i, length).append(to);
      i += length;
    }
    text = std::move(all);
    return;
  }
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The artefacts of splitting that Hugging Face's decoders take back, in their order.
void clean_up(std::string& text) {
  static constexpr std::pair<std::string_view, std::string_view> artefacts[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  if (text.find(' ') == std::string::npos) return;
  for (const auto& [from, to] : artefacts) replace_all(text, from, to);
}

class ByteLevel final : public TokenDecoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens)
      if (!append_bytes_of(bytes, token)) bytes += token;
    tokens.assign(1, replace_invalid_utf8(bytes));
  }
};

class WordPiece final : public TokenDecoder {
 public:
  WordPiece(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0) {
        if (token.starts_with(prefix_)) {
          token.erase(0, prefix_.size());
        } else {
          token.insert(0, 1, ' ');
        }
      }
      if (cleanup_) clean_up(token);
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class BpeDecoder final : public TokenDecoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], suffix_, i + 1 < tokens.size() ? " " : "");
  }

 private:
  std::string suffix_;
};

/// "<0x41>" for a byte, as SentencePiece writes what its vocabulary lacks.
class ByteFallback final : public TokenDecoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> result;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (!find_invalid_utf8(bytes)) {
        result.push_back(bytes);
      } else {
        for (std::size_t i = 0; i < bytes.size(); ++i) result.push_back("\xEF\xBF\xBD");
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      const int byte = byte_of(token);
      if (byte >= 0) {
        bytes.push_back(static_cast<char>(byte));
      } else {
        flush();
        result.push_back(std::move(token));
      }
    }
    flush();
    tokens = std::move(result);
  }

 private:
  static int byte_of(const std::string& token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
    // Rust's parser, which the reference uses, takes a plus sign as well.
    int value = 0, first = token[3] == '+' ? 4 : 3;
    for (int i = first; i < 5; ++i) {
      const char c = token[static_cast<std::size_t>(i)];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }
};

class Fuse final : public TokenDecoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, std::move(all));
  }
};

class Strip final : public TokenDecoder {
 public:
  explicit Strip(const JsonView& json)
      : start_(json.at("start").integer(0, 1 << 20)), stop_(json.at("stop").integer(0, 1 << 20)) {
    append_utf8(content_, read_character(json.at("content")));
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::size_t begin = 0, end = token.size();
      for (std::int64_t i = 0; i < start_ && std::string_view(token).substr(begin).starts_with(content_); ++i)
        begin += content_.size();
      for (std::int64_t i = 0; i < stop_ && std::string_view(token).substr(begin, end - begin).ends_with(content_); ++i)
        end -= content_.size();
      token = token.substr(begin, end - begin);
    }
  }

 private:
  std::string content_;
  std::int64_t start_, stop_;
};

class Replace final : public TokenDecoder {
 public:
  explicit Replace(const JsonView& json)
      : pattern_(read_pattern(json.at("pattern"))), content_(json.string("content")) {}
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<Span> matches;
    for (std::string& token : tokens) {
      pattern_.find_all(token, matches);
      if (matches.empty()) continue;
      std::string result;
      std::size_t done = 0;
      for (const Span& match : matches) {
        result.append(token, done, match.begin - done).append(content_);
        done = match.end;
      }
      token = result.append(token, done);
    }
  }

 private:
  Regex pattern_;
  std::string content_;
};

/// Connectionist temporal classification (Graves et al. 2006): repetitions fall together, then blanks go.
class Ctc final : public TokenDecoder {
 public:
  explicit Ctc(const JsonView& json)
      : blank_(json.string("pad_token")),
        delimiter_(json.string("word_delimiter_token")),
        cleanup_(json.flag("cleanup")) {}
  void apply(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      replace_all(token, blank_, "");
      if (!cleanup_) continue;
      clean_up(token);
      replace_all(token, delimiter_, " ");
    }
    std::erase(tokens, std::string());
  }

 private:
  std::string blank_, delimiter_;
  bool cleanup_;
};

class MetaspaceDecoder final : public TokenDecoder {
 public:
  explicit MetaspaceDecoder(Metaspace settings) : settings_(std::move(settings)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], settings_.replacement,
                  i == 0 && settings_.prepend != Metaspace::Prepend::never ? "" : " ");
  }

 private:
  Metaspace settings_;
};

class Sequence final : public TokenDecoder {
 public:
  Sequence(const JsonView& json, int depth) {
    json.at("decoders").each_element([&](const JsonView& part) {
      if (auto read = TokenDecoder::read(part, depth)) parts_.push_back(std::move(read));
    });
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (const auto& part : parts_) part->apply(tokens);
  }

 private:
  std::vector<std::shared_ptr<const TokenDecoder>> parts_;
};

}  // namespace

std::shared_ptr<const TokenDecoder> TokenDecoder::read(const JsonView& json, int depth) {
  if (json.is_null()) return nullptr;
  if (depth > 16) json.reject("is nested more than 16 deep");
  const std::string type = json.string("type");
  if (type == "ByteLevel") {
    json.only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return std::make_shared<ByteLevel>();
  }
  if (type == "WordPiece") {
    json.only({"type", "prefix", "cleanup"});
    return std::make_shared<WordPiece>(json.string("prefix"), json.flag("cleanup"));
  }
  if (type == "BPEDecoder") {
    json.only({"type", "suffix"});
    return std::make_shared<BpeDecoder>(json.string("suffix"));
  }
  if (type == "CTC") {
    json.only({"type", "pad_token", "word_delimiter_token", "cleanup"});
    return std::make_shared<Ctc>(json);
  }
  if (type == "Metaspace") return std::make_shared<MetaspaceDecoder>(Metaspace::read(json));
  if (type == "Strip") {
    json.only({"type", "content", "start", "stop"});
    return std::make_shared<Strip>(json);
  }
  if (type == "Replace") {
    json.only({"type", "pattern", "content"});
    return std::make_shared<Replace>(json);
  }
  if (type == "Sequence") {
    json.only({"type", "decoders"});
    return std::make_shared<Sequence>(json, depth + 1);
  }
  if (type != "ByteFallback" && type != "Fuse")
    json.reject(
        "the decoder \"{}\" is not supported: expected ByteLevel, WordPiece, BPEDecoder, Metaspace, CTC, "
        "ByteFallback, Fuse, Strip, Replace or Sequence",
        type);
  json.only({"type"});
  if (type == "Fuse") return std::make_shared<Fuse>();
  return std::make_shared<ByteFallback>();
}

}  // namespace attune
