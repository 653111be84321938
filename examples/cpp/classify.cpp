// usage: classify MODEL < TEXTS      a label for each line, and whether a person should look at it
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) return std::cerr << "usage: classify MODEL < TEXTS\n", 2;
  const attune::LoadedModel model = attune::LoadedModel::open(argv[1]);
  std::vector<std::string> texts;
  for (std::string line; std::getline(std::cin, line);) texts.push_back(line);
  for (const attune::Labelled& one : model.classify(texts))
    std::cout << one.label << "\t" << one.confidence << "\t" << (one.automatic ? "automatic" : "review") << "\n";
} catch (const attune::Error& error) {
  return std::cerr << "classify: " << error.what() << "\n", 1;
}
