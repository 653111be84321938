// usage: answer MODEL QUESTION TEXT      the part of the text that answers the question
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 4) return std::cerr << "usage: answer MODEL QUESTION TEXT\n", 2;
  const attune::LoadedModel model = attune::LoadedModel::open(argv[1]);
  const attune::Answered found = model.answer(argv[2], {argv[3]}).front();
  std::cout << found.text << "\t" << found.begin << "-" << found.end << "\n";
} catch (const attune::Error& error) {
  return std::cerr << "answer: " << error.what() << "\n", 1;
}
