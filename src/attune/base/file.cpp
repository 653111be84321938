#include "attune/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "attune/base/error.h"

namespace attune {

namespace {

/// A file open for reading.
class Reader {
 public:
  explicit Reader(const Path& path) : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fault();
    try {
      if (::fstat(descriptor_, &status_) != 0) fault();
      check(!S_ISDIR(status_.st_mode), "reading {}: it is a directory: expected a file", path.string());
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
  }
  ~Reader() { ::close(descriptor_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// The number of bytes read, 0 at the end.
  std::size_t read(char* to, std::size_t size) {
    for (;;) {
      ssize_t got = ::read(descriptor_, to, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fault();
    }
  }
  std::size_t size() const { return static_cast<std::size_t>(std::max<off_t>(status_.st_size, 0)); }
  bool ordinary() const { return S_ISREG(status_.st_mode); }
  int descriptor() const { return descriptor_; }

  [[noreturn]] void fault() const {
    const int code = errno;
    const char* advice = code == ENOENT || code == ENOTDIR ? ": check the path"
                         : code == EACCES                  ? ": ask for the right to read it"
                                                           : "";
    fail("reading {}: {}{}", path_.string(), std::strerror(code), advice);
  }

 private:
  Path path_;
  int descriptor_;
  struct stat status_ {};
};

}  // namespace

std::string read_file(const Path& path) {
  Reader reader(path);
  // One byte more than the size, so that the end is seen without growing; pipes and /proc say size 0.
  std::string contents(reader.size() + 1, '\0');
  std::size_t filled = 0;
  while (std::size_t got = reader.read(contents.data() + filled, contents.size() - filled)) {
    filled += got;
    if (filled == contents.size()) contents.resize(filled + filled / 2 + 65536);
  }
  contents.resize(filled);
  return contents;
}

struct MappedFile::Mapping {
  Path path;
  void* address = nullptr;
  std::size_t size = 0;

  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (address) ::munmap(address, size);
  }
};

MappedFile MappedFile::open(const Path& path) {
  Reader reader(path);
  check(reader.ordinary(), "reading {}: it is not an ordinary file, so it can not be mapped into memory",
        path.string());
  auto mapping = std::make_shared<Mapping>();
  mapping->path = path;
  if (reader.size() > 0) {
    void* address = ::mmap(nullptr, reader.size(), PROT_READ, MAP_PRIVATE, reader.descriptor(), 0);
    if (address == MAP_FAILED) reader.fault();
    mapping->address = address;
    mapping->size = reader.size();
  }
  MappedFile file;
  file.mapping_ = std::move(mapping);
  return file;
}

std::span<const std::byte> MappedFile::bytes() const {
  if (!mapping_ || !mapping_->address) return {};
  return {static_cast<const std::byte*>(mapping_->address), mapping_->size};
}

const Path& MappedFile::path() const {
  static const Path none;
  return mapping_ ? mapping_->path : none;
}

void MappedFile::drop_pages(std::span<const std::byte> part) const {
  if (part.empty()) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  // Only whole pages: the neighbours of the part may still be in use.
  const std::uintptr_t first = (begin + page - 1) / page * page, last = (begin + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void for_each_line(const Path& path, const std::function<void(std::int64_t, std::string_view)>& line,
                   std::size_t longest) {
  Reader reader(path);
  std::string buffer(std::size_t{1} << 20, '\0');
  std::size_t filled = 0, searched = 0;  // buffer[0, searched) holds no line end
  std::int64_t number = 0;
  auto give = [&](std::string_view text) {
    ++number;
    if (text.ends_with('\r')) text.remove_suffix(1);
    check(text.size() <= longest, "reading {}, line {}: the line is longer than {} bytes", path.string(), number,
          longest);
    line(number, text);
  };
  while (std::size_t got = reader.read(buffer.data() + filled, buffer.size() - filled)) {
    filled += got;
    std::size_t begin = 0;
    while (const void* found = std::memchr(buffer.data() + searched, '\n', filled - searched)) {
      auto end = static_cast<std::size_t>(static_cast<const char*>(found) - buffer.data());
      give(std::string_view(buffer).substr(begin, end - begin));
      begin = searched = end + 1;
    }
    std::memmove(buffer.data(), buffer.data() + begin, filled - begin);
    filled -= begin;
    searched = filled;
    // A carriage return may still belong to the line's end.
    check(filled <= longest + 1, "reading {}, line {}: the line is longer than {} bytes", path.string(), number + 1,
          longest);
    if (filled == buffer.size()) buffer.resize(std::min(2 * filled, std::max(longest, filled) + 65536));
  }
  if (filled > 0) give(std::string_view(buffer).substr(0, filled));
}

}  // namespace attune
