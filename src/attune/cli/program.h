#pragma once

namespace attune {

/// The whole program: reads the command line, runs one command, and turns what it throws into one line and an exit
/// status.
int run_program(int argc, char** argv);

}  // namespace attune
