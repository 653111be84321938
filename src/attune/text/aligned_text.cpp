#include "attune/text/aligned_text.h"

#include <utility>

#include "attune/base/error.h"

namespace attune {

void AlignedText::make_own() {
  if (changed_) return;
  own_ = view_;
  changed_ = true;
}

void AlignedText::take(Writer&& writer) {
  own_ = std::move(writer.text);
  align_ = std::move(writer.align);
  changed_ = aligned_ = true;
}

void AlignedText::put_origins(std::size_t begin, std::size_t end, std::vector<Span>& align) const {
  if (aligned_) {
    align.insert(align.end(), align_.begin() + static_cast<std::ptrdiff_t>(begin),
                 align_.begin() + static_cast<std::ptrdiff_t>(end));
    return;
  }
  const std::string_view text = bytes();
  align.resize(align.size() + (end - begin));
  Span* out = align.data() + align.size() - (end - begin);
  for (std::size_t i = begin; i < end;) {
    const std::uint32_t length = utf8_length(text[i]), first = shift_ + static_cast<std::uint32_t>(i);
    for (const std::size_t next = i + length; i < next; ++i) *out++ = {first, first + length};
  }
}

AlignedText AlignedText::part(std::size_t begin, std::size_t end) const {
  AlignedText result({}, shift_ + static_cast<std::uint32_t>(begin));
  result.own_ = bytes().substr(begin, end - begin);
  result.changed_ = true;
  result.aligned_ = aligned_;
  if (aligned_)
    result.align_.assign(align_.begin() + static_cast<std::ptrdiff_t>(begin),
                         align_.begin() + static_cast<std::ptrdiff_t>(end));
  return result;
}

void AlignedText::keep(std::size_t begin, std::size_t end) {
  if (begin == 0 && end == bytes().size()) return;
  *this = part(begin, end);
}

void AlignedText::prepend(std::string_view prefix) {
  if (empty() || prefix.empty()) return;
  Writer writer;
  const std::string_view text = bytes();
  writer.text.reserve(prefix.size() + text.size());
  writer.text.append(prefix).append(text);
  writer.align.reserve(prefix.size() + text.size());
  writer.align.assign(prefix.size(), origin(0, utf8_length(text[0])));
  put_origins(0, text.size(), writer.align);
  take(std::move(writer));
}

void AlignedText::replace(const std::vector<Span>& matches, std::string_view content) {
  if (matches.empty()) return;
  Writer writer;
  const std::string_view text = bytes();
  writer.text.reserve(text.size() + matches.size() * content.size());
  writer.align.reserve(text.size() + matches.size() * content.size());
  std::size_t done = 0;
  const auto copy_until = [&](std::size_t end) {
    writer.text.append(text.substr(done, end - done));
    put_origins(done, end, writer.align);
  };
  for (const Span& match : matches) {
    copy_until(match.begin);
    const Span from = match.end > 0 ? origin(match.end - 1, match.end) : Span{shift_, shift_};
    writer.text.append(content);
    writer.align.insert(writer.align.end(), content.size(), from);
    done = match.end;
  }
  copy_until(text.size());
  take(std::move(writer));
}

void AlignedText::rewrite(std::string text, const std::vector<std::uint32_t>& from) {
  const std::size_t size = bytes().size();
  const auto place = [&](std::size_t at) {
    if (at < size) return origin(at, at + 1).begin;
    return size > 0 ? origin(size - 1, size).end : shift_;
  };
  Writer writer;
  writer.align.reserve(text.size());
  std::uint32_t begin = from.empty() ? 0 : place(from[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint32_t end = from[i + 1] == from[i] ? begin : place(from[i + 1]);
    writer.align.push_back({begin, end});
    begin = end;
  }
  writer.text = std::move(text);
  take(std::move(writer));
}

void AlignedText::transform(const std::vector<Transformed>& characters) {
  Writer writer;
  const std::string_view text = bytes();
  writer.text.reserve(text.size());
  writer.align.reserve(text.size());
  std::size_t next = 0;
  const auto skip = [&] {
    check(next < text.size(), "normalising: more characters are replaced than there are");
    next += utf8_length(text[next]);
  };
  for (const Transformed& character : characters) {
    if (character.change > 0) {
      writer.origin = next > 0 ? origin(next - 1, next) : Span{shift_, shift_};
    } else {
      const std::size_t begin = next;
      skip();
      writer.origin = origin(begin, next);
      for (std::int32_t i = 0; i > character.change; --i) skip();
    }
    writer.put(character.point);
  }
  take(std::move(writer));
}

}  // namespace attune
