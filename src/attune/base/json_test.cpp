#include "attune/base/json.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_json(text, "x.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string toml_error_of(std::string_view text) {
  try {
    parse_toml(text, "x.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_STARTS(text, start) EXPECT_EQ(std::string(text).substr(0, std::string(start).size()), start)

TEST(Json, KeysKeepTheFilesOrder) {
  std::string text = R"({"z":1,"a":[true,false,null,{}],"m":{"q":-2,"b":0.5,"s":"\u00e9\n"}})";
  EXPECT_EQ(to_text(parse_json(text, "x")),
            "{\"z\":1,\"a\":[true,false,null,{}],\"m\":{\"q\":-2,\"b\":0.5,\"s\":\"\u00e9\\n\"}}");
}

TEST(Json, ScalarsAndSpaceAroundThemAreValues) {
  EXPECT_EQ(parse_json(" \n 3 ", "x"), 3);
  EXPECT_EQ(parse_json("\"x\"", "x"), "x");
  EXPECT_TRUE(parse_json("18446744073709551615", "x").is_number_unsigned());
}

TEST(Json, FaultsAreNamedWithLineAndColumn) {
  EXPECT_STARTS(error_of("{\"a\": 1,\n \"b\": }"), "x.json: line 2, column 7: syntax error");
  EXPECT_STARTS(error_of("[1,2,]"), "x.json: line 1, column 6: ");
  EXPECT_STARTS(error_of("{\"a\":1} x"), "x.json: line 1, column 9: ");
  EXPECT_STARTS(error_of(""), "x.json: line 1, column 1: ");
  EXPECT_STARTS(error_of("[1"), "x.json: line 1, column 3: ");
  EXPECT_STARTS(error_of("[NaN]"), "x.json: line 1, column 2: ");
  EXPECT_STARTS(error_of("[1e999]"), "x.json: line 1, column ");
}

TEST(Json, WhatAValueIsNotIsAnErrorAndNoAbort) {
  const Json value = parse_json(R"({"a": null, "list": [1]})", "x");
  EXPECT_THROW(value["b"], Error);
  EXPECT_THROW(value["a"].get<double>(), Error);
  EXPECT_THROW(value["list"].at(1), Error);
  EXPECT_THROW(value.value("list", 3), Error);
  EXPECT_THROW(value.at("b"), Error);
  try {
    value["a"].get<double>();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a JSON value is not what it should be: type must be number, but is null");
  }
}

TEST(Json, AKeyGivenTwiceIsAnError) {
  EXPECT_EQ(error_of("{\"a\": 1,\n \"a\": 2}"), "x.json: line 2, column 4: the key \"a\" is given twice");
  EXPECT_NE(error_of("[{\"b\": {\"a\": 1, \"a\": 1}}]").find("the key \"a\" is given twice"), std::string::npos);
  EXPECT_EQ(error_of("[{\"a\": {\"a\": 1}}, {\"a\": 1}]"), "no error") << "in different objects it is no fault";
}

TEST(Json, BadUtf8AndNulAreErrors) {
  EXPECT_STARTS(error_of("[\"\xff\"]"), "x.json: line 1, column 3: ");
  EXPECT_STARTS(error_of("[\"\xed\xa0\x80\"]"), "x.json: line 1, ");
  EXPECT_STARTS(error_of("[\"\\ud800\"]"), "x.json: line 1, ");
  EXPECT_STARTS(error_of(std::string("[1,\n\0]", 6)), "x.json: line 2, column 1: a NUL byte");
}

TEST(Json, NestingIsAllowedTo200AndNoDeeper) {
  EXPECT_EQ(error_of(std::string(200, '[') + std::string(200, ']')), "no error");
  EXPECT_STARTS(error_of(std::string(201, '[') + std::string(201, ']')), "x.json: line 1, column 201: nested deeper");
  EXPECT_STARTS(error_of(std::string(5'000'000, '[')), "x.json: line 1, column 201: nested deeper");
}

TEST(Json, ManyKeysTakeTimeInProportion) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::to_string(i);
  text += "}";
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text, "x").size(), 200'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20))
      << "a search for each key takes minutes";
}

TEST(Json, QuotedTextsAreAsWritten) {
  for (int first = 0; first < 256; ++first)
    for (int second : {0x00, 0x20, 0x22, 0x41, 0x5C, 0x7F, 0x80, 0xA0, 0xBF, 0xC2, 0xE2}) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      std::string written;
      try {
        written = to_text(Json(text));
      } catch (const Error&) {
        EXPECT_THROW(json_quoted(text), Error) << first << ' ' << second;
        continue;
      }
      EXPECT_EQ(json_quoted(text), written) << first << ' ' << second;
    }
  std::string json = "[";
  append_quoted(json, "\u0120a\u2581");
  EXPECT_EQ(json, "[\"\u0120a\u2581\"");
}

TEST(Json, WritingBadUtf8IsAnError) {
  EXPECT_THROW(to_text(Json("\xff")), Error);
  EXPECT_THROW(json_quoted("a\xc3"), Error);
  EXPECT_EQ(json_quoted("a\"\n\u00e9"), "\"a\\\"\\n\u00e9\"");
}

TEST(Json, IndentPutsMembersOnLines) {
  EXPECT_EQ(to_text(parse_json("{\"a\":[1]}", "x"), 1), "{\n \"a\": [\n  1\n ]\n}");
}

TEST(Json, AFilesNameIsInTheError) {
  Path path = std::filesystem::temp_directory_path() / ("attune-json-test-" + std::to_string(::getpid()) + ".json");
  write_file_atomically(path, "{");
  try {
    read_json(path);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STARTS(error.what(), path.string() + ": line 1, column 2: ");
  }
  std::filesystem::remove(path);
}

TEST(Toml, BecomesTheEqualJson) {
  Json value = parse_toml(
      "task = \"classify\"\n[train]\nepochs = 3\nrate = 1e-3\nbetas = [0.9, 0.99]\non = true\n"
      "when = 1979-05-27\nat = 07:32:00\n[[data.file]]\nname = \"a\"\n[[data.file]]\nname = 'b'\n",
      "x.toml");
  // In the order of the names: toml++ does not keep the file's.
  EXPECT_EQ(to_text(value),
            R"({"data":{"file":[{"name":"a"},{"name":"b"}]},"task":"classify","train":{"at":"07:32:00",)"
            R"("betas":[0.9,0.99],"epochs":3,"on":true,"rate":0.001,"when":"1979-05-27"}})");
  EXPECT_TRUE(value["train"]["epochs"].is_number_integer());
}

TEST(Toml, FaultsAreNamedWithLineAndColumn) {
  EXPECT_STARTS(toml_error_of("a = 1\nb = \n"), "x.toml: line 2, column ");
  EXPECT_STARTS(toml_error_of("a = 1\na = 2\n"), "x.toml: line 2, column ");
  EXPECT_STARTS(toml_error_of("a = \"\xff\""), "x.toml: line 1, column ");
  EXPECT_STARTS(toml_error_of("a = 1979-05-27Tx"), "x.toml: ") << "toml++ 3.3 aborts";
  EXPECT_STARTS(toml_error_of("a\ufe00 = 1"), "x.toml: line 1, column 2") << "and has no answer here";
  EXPECT_STARTS(toml_error_of("a = " + std::string(100'000, '[')), "x.toml: line 1, column ");
}

}  // namespace
}  // namespace attune
