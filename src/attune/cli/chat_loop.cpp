#include "attune/cli/chat_loop.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/cli/line_reader.h"
#include "attune/cli/terminal.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr const char* help =
    "A line is said to the model; one that ends with a backslash goes on in the next line.\n"
    "  /reset   forget what was said (also /new, /clear)\n"
    "  /quit    end (also /exit, /bye, Ctrl-D)\n"
    "  /help    this\n"
    "Ctrl-C stops an answer; what was written of it stays in the conversation.\n";

enum class LineKind { message, blank, help, reset, quit, unknown };

bool one_of(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, line) != words.end();
}

LineKind kind_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return LineKind::blank;
  line = line.substr(0, line.find_last_not_of(" \t") + 1);
  if (one_of(line, {"/help", "/?"})) return LineKind::help;
  if (one_of(line, {"/reset", "/new", "/clear"})) return LineKind::reset;
  if (one_of(line, {"/quit", "/exit", "/bye"})) return LineKind::quit;
  const bool word = line.size() > 1 && line[0] == '/' &&
                    std::all_of(line.begin() + 1, line.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return word ? LineKind::unknown : LineKind::message;
}

class Loop {
 public:
  Loop(Conversation& conversation, const Session& session)
      : conversation_(conversation),
        people_(isatty(STDIN_FILENO) && isatty(STDERR_FILENO)),
        quiet_(session.quiet),
        run_{.progress = {}, .cancel = session.run.cancel} {}

  int run() {
    if (people_ && !quiet_) std::fputs("/help says what you can do here; Ctrl-D ends.\n", stderr);
    for (std::string line; next(line);) {
      const LineKind kind = kind_of(line);
      if (kind == LineKind::quit) return status_;
      if (kind == LineKind::help) std::fputs(help, stderr);
      if (kind == LineKind::reset) conversation_.restart();
      if (kind == LineKind::message || kind == LineKind::unknown) answer(line, kind);
    }
    if (people_) std::fputc('\n', stderr);
    return status_;
  }

 private:
  bool next(std::string& message) {
    message.clear();
    bool warned = false;
    while (true) {
      if (people_) std::fputs(message.empty() ? "> " : ". ", stderr);
      std::string line;
      const LineReader::Outcome outcome = reader_.next(run_, line);
      ++line_;
      if (outcome == LineReader::Outcome::end) return !message.empty();
      if (outcome == LineReader::Outcome::interrupted) {
        if (!people_ || warned) throw Cancelled("stopped");
        Terminal::forget_interrupt();
        std::fputs("\n(Ctrl-C again or Ctrl-D ends)\n", stderr);
        message.clear();
        warned = true;
        continue;
      }
      message += line;
      if (!line.ends_with('\\')) return true;
      message.back() = '\n';
    }
  }

  void answer(const std::string& line, LineKind kind) {
    try {
      check(kind != LineKind::unknown, "{} is no command: /help lists them (to say it, put another word beside it)",
            line);
      check(line.find('\0') == std::string::npos, "the message has a NUL character: remove it, text has none");
      check_utf8(line, "the message");
      const GeneratedText answer = conversation_.say(line, run_, show_piece);
      show_piece("\n");
      tell_ending(conversation_, answer);
    } catch (const Cancelled&) {
      if (!people_) throw;
      Terminal::forget_interrupt();
      show_piece("\n");
      std::fputs("(stopped)\n", stderr);
    } catch (const UsageError&) {
      throw;
    } catch (const ConversationFull& full) {
      tell_fault(fmt::format("{} (/reset)", full.what()));
    } catch (const Error& error) {
      if (std::ferror(stdout)) throw;
      tell_fault(error.what());
    }
  }

  void tell_fault(const std::string& what) {
    if (people_) {
      fmt::print(stderr, "{}\n", what);
      return;
    }
    log(LogLevel::error, fmt::format("standard input, line {}: {}", line_, what));
    status_ = 1;
  }

  Conversation& conversation_;
  bool people_, quiet_;
  int status_ = 0;
  std::int64_t line_ = 0;  // of the input, from 1
  Run run_;
  LineReader reader_ = {};
};

}  // namespace

int converse(Conversation& conversation, const Session& session) { return Loop(conversation, session).run(); }

void show_piece(std::string_view piece) {
  const bool shown = std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size() && std::fflush(stdout) == 0;
  check(shown, "writing the answer: the disk or pipe behind standard output refused");
}

void tell_ending(const Conversation& conversation, const GeneratedText& answer) {
  if (answer.reason != FinishReason::length) return;
  const std::int64_t longest = conversation.longest(), all = answer.tokens + answer.generated_tokens;
  if (longest > 0 && all >= longest)
    log_info(fmt::format("(the answer ends where the model's {} tokens are full: /reset begins anew)", longest));
  else
    log_info(fmt::format("(the answer ends after {} tokens: --max-tokens says how many it may have)",
                         answer.generated_tokens));
}

}  // namespace attune
