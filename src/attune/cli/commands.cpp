#include "attune/cli/commands/commands.h"

namespace attune {

std::vector<Command> commands() {
  return {example_command(), split_command(),     tokenizer_command(), tokenize_command(), train_command(),
          convert_command(), calibrate_command(), workflow_command(),  classify_command(), tag_command(),
          answer_command(),  embed_command(),     generate_command(),  chat_command(),     translate_command(),
          memory_command(),  evaluate_command(),  info_command(),      verify_command(),   forward_command(),
          probe_command(),   demo_command(),      bench_command()};
}

}  // namespace attune
