#include "attune/models/architecture.h"

#include <gtest/gtest.h>

#include <set>

#include "attune/base/error.h"

namespace attune {
namespace {

/// What tools/models_table shows of each.
TEST(Architectures, EachHasANameOfItsOwnAndClassesThatItCanBuild) {
  std::set<std::string> types, classes;
  for (const Architecture& one : architectures()) {
    EXPECT_TRUE(types.insert(one.model_type).second) << one.model_type;
    EXPECT_TRUE(one.build != nullptr);
    std::string names;
    for (const auto& [name, head] : one.classes) {
      EXPECT_TRUE(classes.insert(name).second) << name;
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
