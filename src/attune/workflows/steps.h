#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attune/base/file.h"

namespace attune::workflows {

/// Which steps of a job were done, and from what: directory/steps/NAME holds the fingerprint of all that the step's
/// result depends on.
class Steps {
 public:
  /// Throws Error where the directory holds things that no such job wrote: they might be replaced.
  explicit Steps(Path directory);

  struct Step {
    std::string name;         // "train"
    std::string fingerprint;  // of inputs and options
    std::vector<Path> results;
  };
  /// Whether the step was done with this fingerprint and its results are still there.
  bool done(const Step& step) const;
  /// Does `work` unless that is so, and then notes the step as done. Returns whether it worked.
  bool run(const Step& step, const std::function<void()>& work) const;
  /// The same for work that keeps its own state in `own`, a directory, and can go on: what another fingerprint left
  /// there is removed first.
  bool run_resumable(const Step& step, const Path& own, const std::function<void()>& work) const;

 private:
  Path stamp(const std::string& name) const { return directory_ / "steps" / name; }

  Path directory_;
};

/// One fingerprint of several texts, in order.
std::string fingerprint_of(const std::vector<std::string>& parts);

}  // namespace attune::workflows
