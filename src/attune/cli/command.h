#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/cli/arguments.h"

namespace attune {

/// What every command is given when it runs.
struct Session {
  Run run;  // progress goes to stderr; Ctrl-C sets cancel
  bool quiet = false;
  std::uint64_t seed = 0;
  bool seeded = false;  // by the user
};

/// Exit statuses besides 0: the contract of the command line.
inline constexpr int exit_failed = 1, exit_usage = 2, exit_answer_is_no = 3, exit_interrupted = 130;

/// Does a command's work once its arguments are read; returns the exit status.
using Action = std::function<int(const Session&)>;

struct Command {
  std::string name;
  std::string stage;  // of work, under which --help lists it: "Data", "Train and adapt", "Use", "Trust", "Look inside"
  std::string summary;  // one line
  std::string example;  // that works as it stands
  std::function<Action(Arguments&)> declare;
};

/// All commands, in the order of --help.
std::vector<Command> commands();

}  // namespace attune
