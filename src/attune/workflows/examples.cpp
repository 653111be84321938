#include "attune/workflows/examples.h"

#include "attune/base/usage_error.h"
#include "attune/workflows/clinical_example/clinical_example.h"

namespace attune::workflows {

const std::vector<BundledExample>& examples() {
  static const std::vector<BundledExample> all = {
      {"clinical", "about 3,200 invented clinical documents of five categories and some of none",
       [](const Path& directory, std::uint64_t seed) {
         seed == 0 ? write_clinical_example(directory) : write_clinical_example(directory, seed);
       },
       "attune workflow clinical --data {}/documents.jsonl --output work"}};
  return all;
}

const BundledExample& example_named(const std::string& name) {
  std::vector<std::string> names;
  for (const BundledExample& one : examples()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  std::string near = nearest_name(name, names);
  throw UsageError(fmt::format("there is no example \"{}\"{}: attune example lists them", name,
                               near.empty() ? "" : ", did you mean \"" + near + "\"?"));
}

}  // namespace attune::workflows
