#include "attune/cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "attune/base/error.h"

namespace attune {

namespace {

constexpr std::size_t longest_line = std::size_t{64} << 20;

}  // namespace

LineReader::Outcome LineReader::next(const Run& run, std::string& line) {
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos || (ended_ && !buffer_.empty())) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return Outcome::line;
    }
    if (ended_) return Outcome::end;
    check(buffer_.size() <= longest_line, "reading standard input: a line is longer than 64 MB");
    searched = buffer_.size();
    // poll() ends at a signal; read() would begin again.
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = run.cancelled() ? -1 : poll(&input, 1, -1);
    if (run.cancelled()) {
      buffer_.clear();
      return Outcome::interrupted;
    }
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 65536> piece;
    const ssize_t got = read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    check(got >= 0, "reading standard input: {}", std::strerror(errno));
    if (got == 0)
      ended_ = true;
    else
      buffer_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace attune
