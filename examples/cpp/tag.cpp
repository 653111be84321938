// usage: tag MODEL TEXT      the names in a text, and where they stand
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) return std::cerr << "usage: tag MODEL TEXT\n", 2;
  const attune::LoadedModel model = attune::LoadedModel::open(argv[1]);
  const attune::Tagged found = model.tag({argv[2]}).front();
  for (const attune::Tagged::Entity& one : found.entities)
    std::cout << one.begin << "-" << one.end << "\t" << one.label << "\t" << one.text << "\n";
} catch (const attune::Error& error) {
  return std::cerr << "tag: " << error.what() << "\n", 1;
}
