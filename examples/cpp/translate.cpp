// usage: translate MODEL < TEXTS      each line in the other language
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) return std::cerr << "usage: translate MODEL < TEXTS\n", 2;
  const attune::LoadedModel model = attune::LoadedModel::open(argv[1]);
  std::vector<std::string> texts;
  for (std::string line; std::getline(std::cin, line);) texts.push_back(line);
  for (const attune::Translated& one : model.translate(texts)) std::cout << one.text << "\n";
} catch (const attune::Error& error) {
  return std::cerr << "translate: " << error.what() << "\n", 1;
}
