#pragma once

#include "attune/cli/command.h"

namespace attune {

// One function a command, each in the file of its name: it declares the arguments and returns what to do with them.
Command example_command();
Command split_command();
Command tokenizer_command();
Command tokenize_command();
Command train_command();
Command convert_command();
Command calibrate_command();
Command workflow_command();
Command classify_command();
Command tag_command();
Command answer_command();
Command embed_command();
Command generate_command();
Command chat_command();
Command translate_command();
Command memory_command();
Command evaluate_command();
Command info_command();
Command verify_command();
Command forward_command();
Command probe_command();
Command demo_command();
Command bench_command();

}  // namespace attune
