// usage: generate MODEL PROMPT      continues the prompt; the text appears as it is written
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) return std::cerr << "usage: generate MODEL PROMPT\n", 2;
  const attune::LoadedModel model = attune::LoadedModel::open(argv[1]);
  const auto show = [](std::string_view piece) { std::cout << piece << std::flush; };
  const attune::Written written =
      model.generate(argv[2], {.max_tokens = 40, .temperature = 0.8, .top_p = 0.95, .seed = 1}, show);
  std::cerr << "\n" << written.generated_tokens << " tokens, ended by " << written.finish_reason << "\n";
} catch (const attune::Error& error) {
  return std::cerr << "generate: " << error.what() << "\n", 1;
}
