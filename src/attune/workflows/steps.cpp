#include "attune/workflows/steps.h"

#include "attune/base/error.h"
#include "attune/base/log.h"

namespace attune::workflows {

namespace {

bool holds(const Path& file, const std::string& text) {
  return std::filesystem::exists(file) && read_file(file) == text + "\n";
}

}  // namespace

Steps::Steps(Path directory) : directory_(std::move(directory)) {
  std::error_code none;
  if (!std::filesystem::exists(directory_, none) || std::filesystem::exists(directory_ / "steps", none)) return;
  check(std::filesystem::is_directory(directory_), "{}: it is a file: give --output a directory", directory_.string());
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    check(entry.path().filename() == "data",  // a job stopped behind its very first result has nothing else
          "{}: it is there already and no earlier run made it: give --output a new or empty directory",
          directory_.string());
}

bool Steps::done(const Step& step) const {
  for (const Path& result : step.results)
    if (!std::filesystem::exists(result)) return false;
  return holds(stamp(step.name), step.fingerprint);
}

bool Steps::run(const Step& step, const std::function<void()>& work) const {
  if (done(step)) {
    log_info(step.name + ": unchanged since the last run");
    return false;
  }
  std::error_code none;
  std::filesystem::remove(stamp(step.name), none);
  work();  // before anything is made: where it fails, nothing is left
  make_directories(directory_ / "steps");
  write_file_atomically(stamp(step.name), step.fingerprint + "\n");
  return true;
}

bool Steps::run_resumable(const Step& step, const Path& own, const std::function<void()>& work) const {
  return run(step, [&] {
    Path begun = stamp(step.name + "-begun");
    if (!holds(begun, step.fingerprint)) {
      make_directories(directory_ / "steps");
      std::filesystem::remove_all(own);
      write_file_atomically(begun, step.fingerprint + "\n");
    }
    work();
  });
}

std::string fingerprint_of(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += std::to_string(part.size()) + ":" + part;
  return sha256(all);
}

}  // namespace attune::workflows
