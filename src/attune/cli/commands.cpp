#include "attune/cli/commands/commands.h"

namespace attune {

std::vector<Command> commands() {
  return {train_command(), workflow_command(), info_command(), verify_command(), forward_command(), demo_command()};
}

}  // namespace attune
