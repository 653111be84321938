#include "attune/models/architecture.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "attune/base/error.h"
#include "attune/base/json_values.h"

namespace attune {
namespace {

/// A golden model's config.json for each type.
std::map<std::string, Json> golden_configs() {
  std::map<std::string, Json> configs;
  for (const auto& entry : std::filesystem::directory_iterator(Path(ATTUNE_GOLDEN_DIR) / "models")) {
    Json config = read_json(entry.path() / "config.json");
    const auto type = config["model_type"].get<std::string>();
    configs.emplace(type, std::move(config));
  }
  return configs;
}

/// Some encoders' classes are named by rule, and the architecture does not describe their head.
bool builds(const Architecture& one, HeadKind head, const Json& config) {
  if (head != HeadKind::classify && head != HeadKind::tag && head != HeadKind::answer) return true;
  return one.output_layer && !one.output_layer(ConfigReader(config, one.model_type), head).empty();
}

/// What tools/models_table shows of each.
TEST(Architectures, EachHasANameOfItsOwnAndClassesThatItCanBuild) {
  const std::map<std::string, Json> configs = golden_configs();
  std::set<std::string> types, classes;
  for (const Architecture& one : architectures()) {
    EXPECT_TRUE(types.insert(one.model_type).second) << one.model_type;
    EXPECT_TRUE(one.build != nullptr);
    std::string names;
    for (const auto& [name, head] : one.classes) {
      EXPECT_TRUE(classes.insert(name).second) << name;
      const auto config = configs.find(one.model_type);
      if (config != configs.end() && !builds(one, head, config->second)) continue;
      names += (names.empty() ? "" : " ") + name;
    }
    ASSERT_FALSE(names.empty()) << one.model_type;
    RecordProperty("classes of " + one.model_type, names);
  }
}

TEST(Architectures, AHeadThatThereIsNotIsAnErrorThatNamesThoseThereAre) {
  try {
    class_name("granite", HeadKind::classify);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("GraniteForCausalLM"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace attune
