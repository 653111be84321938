#include "attune/base/config_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune {
namespace {

ConfigReader reader(const char* json) { return ConfigReader(parse_json(json, "config.json"), "config.json"); }

std::string error_of(const char* json, const std::function<void(const ConfigReader&)>& read) {
  try {
    read(reader(json));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ConfigReader, ReadsEveryKindOfValue) {
  ConfigReader c = reader(R"({"i":3,"x":0.5,"whole":2,"b":true,"s":"text","names":["a","b"],"betas":[0.9,1]})");
  EXPECT_EQ(c.integer("i"), 3);
  EXPECT_EQ(c.number("x"), 0.5);
  EXPECT_EQ(c.number("whole"), 2.0);
  EXPECT_TRUE(c.flag("b"));
  EXPECT_EQ(c.string("s"), "text");
  EXPECT_EQ(c.choice("s", {"other", "text"}), "text");
  EXPECT_EQ(c.strings_or("names", {}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(c.numbers_or("betas", {}), (std::vector<double>{0.9, 1}));
  EXPECT_NO_THROW(c.finish());
}

TEST(ConfigReader, AbsentAndNullGiveTheOtherwise) {
  ConfigReader c = reader(R"({"null":null})");
  for (const char* key : {"absent", "null"}) {
    EXPECT_FALSE(c.has(key));
    EXPECT_EQ(c.integer_or(key, 7), 7);
    EXPECT_EQ(c.number_or(key, 0.25), 0.25);
    EXPECT_TRUE(c.flag_or(key, true));
    EXPECT_EQ(c.string_or(key, "x"), "x");
    EXPECT_EQ(c.choice_or(key, "x", {"y"}), "x");
    EXPECT_EQ(c.strings_or(key, {"z"}), std::vector<std::string>{"z"});
    EXPECT_EQ(c.numbers_or(key, {1}), std::vector<double>{1});
    EXPECT_TRUE(c.raw(key).is_null());
    EXPECT_NO_THROW(c.object_or_empty(key).finish());
  }
  EXPECT_NO_THROW(c.finish());
}

TEST(ConfigReader, TellsWhatWasTakenForKeysThatAreNotThere) {
  ConfigReader c = reader(R"({"given":1,"null":null,"inner":{}})");
  c.integer_or("given", 7);
  c.integer_or("null", 2);
  c.integer_or("null", 3);
  c.number_or("epsilon", 1e-5);
  c.number_or("theta", 10000.0);
  c.flag_or("tied", true);
  c.string_or("act", "gelu");
  c.object_or_empty("inner").integer_or("nested", 1);
  EXPECT_EQ(*c.defaults(), parse_json(R"({"null":2,"epsilon":1e-05,"theta":10000,"tied":true,"act":"gelu"})", "test"));
}

TEST(ConfigReader, AMissingKeyIsNamedWithWhatIsExpected) {
  EXPECT_EQ(error_of("{}", [](auto& c) { c.integer("hidden_size", {.at_least = 1}); }),
            "reading config.json: \"hidden_size\" is missing: expected a whole number, at least 1");
  EXPECT_EQ(error_of("{\"a\":null}", [](auto& c) { c.string("a"); }),
            "reading config.json: \"a\" is null: expected a text in quotes");
}

TEST(ConfigReader, AWrongTypeIsNamedWithItsValue) {
  EXPECT_EQ(error_of(R"({"a":"foo"})", [](auto& c) { c.integer("a"); }),
            "reading config.json: \"a\" is \"foo\": expected a whole number");
  EXPECT_EQ(error_of(R"({"a":1.5})", [](auto& c) { c.integer_or("a", 1); }),
            "reading config.json: \"a\" is 1.5: expected a whole number");
  EXPECT_EQ(error_of(R"({"a":true})", [](auto& c) { c.number("a"); }),
            "reading config.json: \"a\" is true: expected a number");
  EXPECT_EQ(error_of(R"({"a":1})", [](auto& c) { c.flag("a"); }),
            "reading config.json: \"a\" is 1: expected true or false");
  EXPECT_EQ(error_of(R"({"a":[1]})", [](auto& c) { c.strings_or("a", {}); }),
            "reading config.json: \"a\" is [1]: expected a list of texts");
  EXPECT_EQ(error_of(R"({"a":[1,"x"]})", [](auto& c) { c.numbers_or("a", {}); }),
            "reading config.json: \"a\" is [1,\"x\"]: expected a list of numbers");
  EXPECT_EQ(error_of(R"({"a":3})", [](auto& c) { c.object_or_empty("a"); }),
            "reading config.json: \"a\" is 3: expected an object of keys and values");
}

TEST(ConfigReader, AValueOutOfRangeIsAnError) {
  EXPECT_EQ(error_of(R"({"a":0})", [](auto& c) { c.integer("a", {.at_least = 1, .at_most = 8}); }),
            "reading config.json: \"a\" is 0: expected a whole number, at least 1 and at most 8");
  EXPECT_EQ(error_of(R"({"a":1.5})", [](auto& c) { c.number_or("a", 0, {.at_most = 1}); }),
            "reading config.json: \"a\" is 1.5: expected a number, at most 1");
  EXPECT_EQ(error_of(R"({"a":18446744073709551615})", [](auto& c) { c.integer("a"); }),
            "reading config.json: \"a\" is 18446744073709551615: expected a whole number");
  EXPECT_EQ(error_of(R"({"a":0})", [](auto& c) { c.number("a", {.above = 0, .below = 1}); }),
            "reading config.json: \"a\" is 0: expected a number, above 0 and below 1");
  EXPECT_THROW(reader(R"({"a":1})").number("a", {.above = 0, .below = 1}), Error);
  EXPECT_NO_THROW(reader(R"({"a":1})").integer("a", {.at_least = 1, .at_most = 1}));
}

TEST(ConfigReader, NumbersThatAreNotFiniteAreErrors) {
  for (const char* text : {"a = nan", "a = inf", "a = -inf"}) {
    ConfigReader c(parse_toml(text, "run.toml"), "run.toml");
    EXPECT_THROW(c.number("a"), Error) << text;
  }
  EXPECT_THROW(ConfigReader(parse_toml("a = [nan]", "run.toml"), "run.toml").numbers_or("a", {}), Error);
}

TEST(ConfigReader, AnUnknownChoiceListsTheAllowedOnes) {
  EXPECT_EQ(
      error_of(R"({"rope":{"type":"linaer"}})",
               [](auto& c) {
                 c.object_or_empty("rope").choice("type", {"linear", "yarn"});
               }),
      "reading config.json: \"rope.type\" is \"linaer\": expected one of linear, yarn (did you mean \"linear\"?)");
}

TEST(ConfigReader, KeysThatNobodyReadAreErrorsWithTheNearestName) {
  std::string error = error_of(R"({"hidden_sise":1,"rope":{"typ":3},"zzzzzzzzzz":1})", [](auto& c) {
    c.integer_or("hidden_size", 3);
    c.object_or_empty("rope").string_or("type", "");
    c.finish();
  });
  EXPECT_EQ(error,
            "reading config.json: unknown keys \"hidden_sise\" (did you mean \"hidden_size\"?), \"zzzzzzzzzz\", "
            "\"rope.typ\" (did you mean \"type\"?): remove or correct them");
  EXPECT_EQ(error_of(R"({"a":1})", [](auto& c) { c.finish(); }),
            "reading config.json: unknown key \"a\": remove or correct it");
}

TEST(ConfigReader, HasDoesNotCountAsReadAndIgnoreDoes) {
  EXPECT_THROW(
      {
        ConfigReader c = reader(R"({"a":1})");
        EXPECT_TRUE(c.has("a"));
        c.finish();
      },
      Error);
  ConfigReader c = reader(R"({"a":1,"b":2})");
  c.ignore({"a", "b", "c"});
  EXPECT_NO_THROW(c.finish());
}

TEST(ConfigReader, CopiesAndNestedReadersShareWhatWasRead) {
  ConfigReader c = reader(R"({"a":1,"o":{"x":1,"y":2}})");
  ConfigReader copy = c;
  EXPECT_EQ(copy.integer("a"), 1);
  EXPECT_EQ(c.object_or_empty("o").integer("x"), 1);
  EXPECT_THROW(c.finish(), Error);
  EXPECT_EQ(c.object_or_empty("o").integer("y"), 2);
  EXPECT_NO_THROW(c.finish());
}

TEST(ConfigReader, RejectNamesTheKeysWholePath) {
  EXPECT_EQ(
      error_of(R"({"a":{"b":{"c":5}}})",
               [](auto& c) { c.object_or_empty("a").object_or_empty("b").reject("c", "expected an even number"); }),
      "reading config.json: \"a.b.c\" is 5: expected an even number");
}

TEST(ConfigReader, ALongValueIsCutInTheMessageBetweenCharacters) {
  std::string value;
  for (int i = 0; i < 50; ++i) value += "\u00e9";
  std::string error = error_of(("{\"a\":\"" + value + "\"}").c_str(), [](auto& c) { c.flag("a"); });
  EXPECT_LT(error.size(), 140u);
  EXPECT_NO_THROW(json_quoted(error)) << "still valid UTF-8";
}

TEST(ConfigReader, TakesTheFormatFromTheFilesEnding) {
  Path stem = std::filesystem::temp_directory_path() / ("attune-config-test-" + std::to_string(::getpid()));
  Path json = stem.string() + ".json", toml = stem.string() + ".toml", other = stem.string() + ".yaml";
  write_file_atomically(json, "{\"a\": 1}");
  write_file_atomically(toml, "a = 1");
  EXPECT_EQ(ConfigReader::file(json).integer("a"), 1);
  EXPECT_EQ(ConfigReader::file(toml).integer("a"), 1);
  EXPECT_EQ(ConfigReader::file(toml).source(), toml.string());
  EXPECT_THROW(ConfigReader::file(other), Error);
  write_file_atomically(json, "[1]");
  EXPECT_THROW(ConfigReader::file(json), Error) << "not an object";
  std::filesystem::remove(json);
  std::filesystem::remove(toml);
}

}  // namespace
}  // namespace attune
