#define PCRE2_CODE_UNIT_WIDTH 8
#include "attune/text/regex.h"

#include <pcre2.h>

#include "attune/base/error.h"

namespace attune {

struct Regex::Compiled {
  pcre2_code* code = nullptr;
  ~Compiled() { pcre2_code_free(code); }
};

namespace {

std::string message_of(int code) {
  PCRE2_UCHAR text[160];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

/// What a match needs besides the pattern; one a thread, because patterns are shared between threads.
struct Scratch {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(64 << 10, 8 << 20, nullptr);
  Scratch() {
    pcre2_set_match_limit(context, 50'000'000);
    pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~Scratch() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

}  // namespace

Regex::Regex(std::string_view pattern) : pattern_(pattern) {
  const std::string translated = translate_oniguruma(pattern);
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto compiled = std::make_shared<Compiled>();
  compiled->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &offset, context);
  pcre2_compile_context_free(context);
  check(compiled->code != nullptr, "the pattern \"{}\" is not valid near character {}: {}", pattern, offset,
        message_of(error));
  pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);  // without JIT the interpreter does the same, more slowly
  compiled_ = std::move(compiled);
}

Regex Regex::literal(std::string_view text) {
  Regex result;
  result.literal_ = text;
  return result;
}

void Regex::find_all(std::string_view text, std::vector<Span>& matches) const {
  matches.clear();
  if (text.empty()) return;
  if (!compiled_ && !literal_.empty()) {
    for (std::size_t at = text.find(literal_); at != std::string_view::npos; at = text.find(literal_, at)) {
      matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + literal_.size())});
      at += literal_.size();
    }
    return;
  }
  thread_local Scratch scratch;
  std::size_t from = 0;
  while (from <= text.size()) {
    std::size_t begin = from, end = from;
    if (compiled_) {
      const int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                    PCRE2_NO_UTF_CHECK, scratch.data, scratch.context);
      if (found == PCRE2_ERROR_NOMATCH) return;
      check(found >= 0, "matching the pattern \"{}\": {}", pattern_, message_of(found));
      const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(scratch.data);
      begin = ends[0], end = ends[1];
    }
    const bool behind_match = !matches.empty() && matches.back().end == end && begin == end;
    if (behind_match) {
      from += from < text.size() ? utf8_length(text[from]) : 1;
      continue;
    }
    matches.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    from = end;
  }
}

}  // namespace attune
