#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

using Path = std::filesystem::path;

/// The whole file. Throws Error with the path and the reason if it is missing, a directory, or unreadable.
std::string read_file(const Path& path);

/// A file mapped read-only; the bytes stay valid as long as any copy of the handle lives. An empty file maps to no
/// bytes.
class MappedFile {
 public:
  static MappedFile open(const Path& path);
  std::span<const std::byte> bytes() const;
  const Path& path() const;
  /// Tells the system that these bytes will not be read again soon, so that their pages can leave memory.
  void drop_pages(std::span<const std::byte> part) const;

 private:
  struct Mapping;
  std::shared_ptr<const Mapping> mapping_;
};

/// Writes a file whole or not at all: to a temporary name beside it, flushed, then renamed over `path` by commit().
/// Without commit() nothing is left; what a killed process left, the next write of the same name removes. A device or a
/// pipe
/// (/dev/stdout) is written as it is, a link's target in its place. Every write and the commit throw Error where the
/// disk is full or not writable.
class AtomicFile {
 public:
  explicit AtomicFile(const Path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  Path path_, temporary_;
  std::FILE* file_ = nullptr;
};

void write_file_atomically(const Path& path, std::string_view contents);

/// Makes the directory and its parents; throws Error with the path and the reason.
void make_directories(const Path& path);

/// Fills a directory whole or not at all: `fill` gets a temporary directory beside `path`, which then takes `path`'s
/// name. An existing directory of that name is replaced.
void write_directory_atomically(const Path& path, const std::function<void(const Path&)>& fill);

/// Calls `line(number from 1, text without its end)` for every line of the file, reading it in pieces, so that a file
/// may be larger than memory. A final line need not end. Throws Error, naming the line, beyond `longest` bytes in one
/// line.
void for_each_line(const Path& path, const std::function<void(std::int64_t, std::string_view)>& line,
                   std::size_t longest = std::size_t{64} << 20);

/// Lower-case hexadecimal SHA-256.
std::string sha256(std::string_view bytes);
std::string sha256_of_file(const Path& path);

}  // namespace attune
