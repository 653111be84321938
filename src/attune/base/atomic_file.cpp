#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "attune/base/error.h"
#include "attune/base/file.h"

namespace attune {

namespace {

[[noreturn]] void fail_writing(const Path& path, int code) {
  const char* advice = code == ENOENT || code == ENOTDIR ? ": does its directory exist?"
                       : code == ENOSPC                  ? ": free some, or write elsewhere"
                       : code == EACCES || code == EROFS ? ": write where you may, or ask for the right to"
                                                         : "";
  fail("writing {}: {}{}", path.string(), std::strerror(code), advice);
}

/// Removes what writers of `path` that were killed left behind: their names hold their process's number.
void remove_leftovers(const Path& path) {
  const std::string prefix = "." + path.filename().string() + ".";
  std::error_code ignored;
  std::filesystem::directory_iterator entries(path.has_parent_path() ? path.parent_path() : Path("."), ignored), end;
  for (; !ignored && entries != end; entries.increment(ignored)) {
    const std::string name = entries->path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".tmp")) continue;
    const long process = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    if (process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH)
      std::filesystem::remove_all(entries->path(), ignored);
  }
}

/// A name beside `path` that no other process or call uses.
Path temporary_beside(const Path& path) {
  static std::atomic<std::uint64_t> counter{0};
  remove_leftovers(path);
  return path.parent_path() / fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter++);
}

/// Makes what was renamed or filled survive a power cut. File systems that can't are left alone.
void sync_directory(const Path& directory) {
  int descriptor = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void sync_file(const Path& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_writing(path, errno);
  int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (code != 0) fail_writing(path, code);
}

void sync_tree(const Path& directory) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_symlink()) continue;
    if (entry.is_directory()) sync_directory(entry.path());
    if (entry.is_regular_file()) sync_file(entry.path());
  }
  sync_directory(directory);
}

}  // namespace

AtomicFile::AtomicFile(const Path& path) : path_(path) {
  std::error_code ignored;
  auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail_writing(path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    // A device or a pipe (/dev/stdout): renaming over it would destroy it, so it is written as it is.
    file_ = std::fopen(path.c_str(), "wbe");
  } else {
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored)))
      if (Path target = std::filesystem::weakly_canonical(path, ignored); !ignored) path_ = target;
    temporary_ = temporary_beside(path_);
    file_ = std::fopen(temporary_.c_str(), "wbxe");
  }
  if (!file_) fail_writing(path, errno);
  std::setvbuf(file_, nullptr, _IOFBF, std::size_t{1} << 18);
}

AtomicFile::~AtomicFile() {
  if (!file_) return;
  std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::write(std::span<const std::byte> bytes) {
  check(file_ != nullptr, "writing {}: the file is already committed", path_.string());
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail_writing(path_, errno);
}

void AtomicFile::commit() {
  check(file_ != nullptr, "writing {}: the file is already committed", path_.string());
  const bool renames = !temporary_.empty();
  int code = 0;
  if (std::fflush(file_) != 0 || (renames && ::fsync(::fileno(file_)) != 0)) code = errno;
  if (std::fclose(file_) != 0 && code == 0) code = errno;
  file_ = nullptr;
  if (!renames) {
    if (code != 0) fail_writing(path_, code);
    return;
  }
  if (code == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(temporary_.c_str());
    fail_writing(path_, code);
  }
  sync_directory(path_.parent_path());
}

void write_file_atomically(const Path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

void make_directories(const Path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) fail("making the directory {}: {}", path.string(), code.message());
  check(std::filesystem::is_directory(path, code), "making the directory {}: a file of that name is in the way",
        path.string());
}

void write_directory_atomically(const Path& path, const std::function<void(const Path&)>& fill) {
  Path target = std::filesystem::absolute(path).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "run/" names "run"
  check(target.has_relative_path(), "writing {}: the root directory can not be replaced", path.string());
  std::error_code code;
  if (Path real = std::filesystem::canonical(target, code); !code) target = real;
  const bool exists = std::filesystem::exists(target, code);
  if (exists && !std::filesystem::is_directory(target, code)) fail_writing(path, ENOTDIR);

  make_directories(target.parent_path());
  Path temporary = temporary_beside(target);
  if (::mkdir(temporary.c_str(), 0777) != 0) fail_writing(path, errno);
  try {
    fill(temporary);
    sync_tree(temporary);
    if (!exists) {
      if (::rename(temporary.c_str(), target.c_str()) != 0) fail_writing(path, errno);
    } else if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
      // Not every file system exchanges two names at once.
      Path old = temporary_beside(target);
      if (::rename(target.c_str(), old.c_str()) != 0) fail_writing(path, errno);
      if (::rename(temporary.c_str(), target.c_str()) != 0) {
        int reason = errno;
        ::rename(old.c_str(), target.c_str());
        fail_writing(path, reason);
      }
      temporary = old;
    }
  } catch (...) {
    std::filesystem::remove_all(temporary, code);
    throw;
  }
  sync_directory(target.parent_path());
  std::filesystem::remove_all(temporary, code);  // what `path` held before
}

}  // namespace attune
