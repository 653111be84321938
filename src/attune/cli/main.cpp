#include "attune/cli/program.h"

int main(int argc, char** argv) { return attune::run_program(argc, argv); }
