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
  bool foreign = std::filesystem::exists(directory_, none) && !std::filesystem::exists(directory_ / "steps", none);
  check(!foreign || (std::filesystem::is_directory(directory_) && std::filesystem::is_empty(directory_)),
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
  make_directories(directory_ / "steps");
  std::filesystem::remove(stamp(step.name));
  work();
  write_file_atomically(stamp(step.name), step.fingerprint + "\n");
  return true;
}

bool Steps::run_resumable(const Step& step, const Path& own, const std::function<void()>& work) const {
  return run(step, [&] {
    Path begun = stamp(step.name + "-begun");
    if (!holds(begun, step.fingerprint)) {
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
