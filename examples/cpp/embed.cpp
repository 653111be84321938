// usage: embed MODEL TEXT TEXT      how near two texts are in meaning: the cosine of their vectors
#include <attune/attune.h>

#include <cmath>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 4) return std::cerr << "usage: embed MODEL TEXT TEXT\n", 2;
  const attune::LoadedModel model = attune::LoadedModel::open(argv[1]);
  const std::vector<attune::Embedded> vectors = model.embed({argv[2], argv[3]});
  double product = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < vectors[0].values.size(); ++i) {
    const double a = vectors[0].values[i], b = vectors[1].values[i];
    product += a * b, first += a * a, second += b * b;
  }
  std::cout << product / std::sqrt(first * second) << "\n";
} catch (const attune::Error& error) {
  return std::cerr << "embed: " << error.what() << "\n", 1;
}
