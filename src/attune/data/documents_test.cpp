#include "attune/data/documents.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/data/record.h"

namespace attune {
namespace {

class DocumentFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attune-data-XXXXXX").string();
    directory = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  Path write(const std::string& name, const std::string& contents) {
    write_file_atomically(directory / name, contents);
    return directory / name;
  }
  std::string refusal(const Path& path, const DocumentFormat& format = {}) {
    try {
      read_documents(path, format);
    } catch (const Error& error) {
      std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_NE(message.find(path.filename().string()), std::string::npos) << "the file is not named: " << message;
      return message;
    }
    ADD_FAILURE() << "read without an error";
    return "";
  }
  void expect_refused(const std::string& contents, const std::vector<std::string>& because,
                      const DocumentFormat& format = {}, const std::string& name = "d.jsonl") {
    std::string message = refusal(write(name, contents), format);
    for (const std::string& part : because) EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  Path directory;
};

const std::string good = R"({"id":"a","text":"one","label":"x"})";

TEST_F(DocumentFiles, JsonLinesKeepEveryField) {
  Documents read = read_documents(write(
      "d.jsonl",
      "\xEF\xBB\xBF{\"id\": 7, \"text\": \"Größe \\u00e9 \\ud83d\\ude00\", \"label\": \"x\", \"patient\": \"p1\", "
      "\"age\": 63, \"ratio\": 0.25, \"urgent\": true, \"nothing\": null, \"tags\": [1, {\"a\": 2}]}\r\n\n"
      "{\"text\": \"two\", \"label\": null}"));
  ASSERT_EQ(read.items.size(), 2u);
  const Document& first = read.items[0];
  EXPECT_EQ(first.id, "7");
  EXPECT_EQ(first.text, "Größe é 😀");
  EXPECT_EQ(first.label, "x");
  EXPECT_EQ(first.line, 1);
  EXPECT_EQ(first.fields,
            (std::map<std::string, std::string>{
                {"patient", "p1"}, {"age", "63"}, {"ratio", "0.25"}, {"urgent", "true"}, {"tags", "[1,{\"a\":2}]"}}));
  EXPECT_EQ(read.items[1].id, "3") << "the line's number where there is no id";
  EXPECT_EQ(read.items[1].label, std::nullopt);
  EXPECT_TRUE(read.skipped.empty());
}

TEST_F(DocumentFiles, WhatIsWrittenIsReadBack) {
  std::vector<Document> documents(2);
  documents[0] = {"a", "line\nend \"quoted\" \\ \t é 😀", "x", {{"patient", "1"}, {"age", "63"}}, {"age"}, 1};
  documents[1] = {"2", "two", std::nullopt, {}, {}, 2};
  DocumentFormat format{.labels = Labels::nullable};
  write_documents(directory / "out.jsonl", documents, format);
  std::string written = read_file(directory / "out.jsonl");
  EXPECT_NE(written.find("\"age\": 63"), std::string::npos) << written;
  EXPECT_NE(written.find("\"patient\": \"1\""), std::string::npos) << written;
  Documents read = read_documents(directory / "out.jsonl", format);
  ASSERT_EQ(read.items.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.items[i].text, documents[i].text);
    EXPECT_EQ(read.items[i].label, documents[i].label);
    EXPECT_EQ(read.items[i].fields, documents[i].fields);
    EXPECT_EQ(read.items[i].id, documents[i].id);
  }
}

TEST_F(DocumentFiles, FieldsAreNamedByTheCaller) {
  Path path = write("d.jsonl", R"({"nr":5,"body":"one","kind":"x","text":"other"})");
  DocumentFormat format{.text_field = "body", .label_field = "kind", .id_field = "nr"};
  Document one = read_documents(path, format).items.at(0);
  EXPECT_EQ(one.text, "one");
  EXPECT_EQ(one.label, "x");
  EXPECT_EQ(one.id, "5");
  EXPECT_EQ(one.fields.at("text"), "other");
  EXPECT_EQ(to_json_line(one, format), R"({"nr": 5, "body": "one", "kind": "x", "text": "other"})");
}

TEST_F(DocumentFiles, NumbersStayAsTheyWereWritten) {
  for (const char* number : {"1e5", "1.10", "-0", "0", "12345678901234567890123", "-1.5E+007", "1e999", "true"}) {
    const std::string n = number, id = n == "true" ? "7" : n;
    const std::string json = "{\"id\": " + id + ", \"text\": \"a, 1.10 \\\"2.20\\\"\", \"label\": " + n +
                             ", \"patient\": " + n + ", \"tags\": [ " + n + ", {\"a 1\": \"[ 1.10\"} ] }";
    Documents read = read_documents(write("d.jsonl", json));
    const Document& one = read.items.at(0);
    EXPECT_EQ(one.id, id);
    EXPECT_EQ(id_as_json(one), id);
    EXPECT_EQ(one.text, "a, 1.10 \"2.20\"");
    EXPECT_EQ(one.label, n);
    EXPECT_EQ(one.fields.at("patient"), n);
    EXPECT_EQ(one.fields.at("tags"), "[" + n + ",{\"a 1\":\"[ 1.10\"}]");
    Document again = parse_document(to_json_line(one), 1);
    EXPECT_EQ(again.id, id);
    EXPECT_EQ(again.label, n);
    EXPECT_EQ(again.literals, one.literals);
  }
  EXPECT_EQ(id_as_json(parse_document(R"({"id":"1.10","text":"a"})", 1)), "\"1.10\"");
}

TEST_F(DocumentFiles, DocumentsOfTheSameIdAreAWarning) {
  auto warnings = [&](const std::string& contents) {
    std::vector<std::string> told;
    set_log_sink([&](LogLevel, const std::string& line) { told.push_back(line); });
    read_documents(write("d.jsonl", contents));
    set_log_sink({});
    return told;
  };
  EXPECT_TRUE(warnings("{\"id\":1,\"text\":\"a\"}\n{\"text\":\"b\"}\n").empty());
  auto told = warnings("{\"id\":7,\"text\":\"a\"}\n{\"id\":7,\"text\":\"b\"}\n{\"id\":\"7\",\"text\":\"c\"}\n");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_NE(told[0].find("lines 1 and 2 have the same id \"7\""), std::string::npos) << told[0];
  EXPECT_NE(told[1].find("1 more"), std::string::npos) << told[1];
  told = warnings("{\"id\":2,\"text\":\"a\"}\n{\"text\":\"b\"}\n");
  ASSERT_EQ(told.size(), 1u) << "the number of a line is an id, too";
  EXPECT_NE(told[0].find("lines 1 and 2"), std::string::npos) << told[0];
}

TEST_F(DocumentFiles, AFieldThatNoRecordHasIsRefused) {
  const std::string contents = R"({"nr":5,"text":"one","kind":"x"})"
                               "\n"
                               R"({"text":"two"})";
  expect_refused(contents, {"no record has the field \"kindd\" (--label-field)", "did you mean \"kind\""},
                 {.label_field = "kindd"});
  expect_refused(contents, {"no record has the field \"nix\" (--id-field)"}, {.id_field = "nix"});
  expect_refused(contents, {"line 1: it has no \"nix\"", "--text-field"}, {.text_field = "nix"});
  EXPECT_EQ(read_documents(write("d.jsonl", contents)).items.size(), 2u) << "unlabelled is fine where none is named";
  EXPECT_EQ(read_documents(write("n.jsonl", R"({"text":"one","kind":null})"), {.label_field = "kind"}).items.size(),
            1u);
}

TEST_F(DocumentFiles, MissingEmptyAndUnreadableFilesAreNamed) {
  EXPECT_NE(refusal(directory / "absent.jsonl").find("No such file"), std::string::npos);
  expect_refused("", {"it is empty"});
  expect_refused("\n \r\n", {"it is empty"});
  expect_refused("text\n", {"a line of names and no record"}, {}, "d.csv");
  expect_refused("", {"it is empty"}, {}, "d.txt");
  EXPECT_NE(refusal(directory).find("directory"), std::string::npos);
  if (geteuid() != 0) {  // root reads everything
    Path closed = write("closed.jsonl", good);
    std::filesystem::permissions(closed, std::filesystem::perms::none);
    EXPECT_NE(refusal(closed).find("Permission denied"), std::string::npos);
  }
}

TEST_F(DocumentFiles, BytesThatAreNotTextAreNamedWithTheirPlace) {
  expect_refused(good + "\n{\"text\": \"a\xff\"}\n", {"line 2: byte 12 of the line (0xff) is not UTF-8"});
  expect_refused(good + "\n{\"text\": \"a" + std::string(1, '\0') + "b\"}\n", {"line 2: byte 12 is NUL"});
  expect_refused(R"({"text": "a\u0000b"})", {"line 1", "NUL"});
  expect_refused(R"({"text": "a\ud800b"})", {"line 1", "not JSON"});
  expect_refused("\xff\xfe{\0", {"line 1: byte 1"});
  expect_refused("good\nb\xc3(\n", {"line 2: byte 2 of the line (0xc3)"}, {}, "d.txt");
  expect_refused("text\nb\xc3(\n", {"line 2: byte 2"}, {}, "d.csv");
  expect_refused("text\nb\xc3(\n", {"line 2: byte 2"}, {}, "d.tsv");
}

TEST_F(DocumentFiles, LinesThatAreNotOneObjectAreNamed) {
  expect_refused(good + "\n[1]\n", {"line 2", "not a JSON object"});
  expect_refused("[" + good + "]", {"line 1", "not a JSON object"});
  expect_refused("\"x\"", {"line 1", "not a JSON object"});
  expect_refused(good + "\n" + R"({"text": "a",})", {"line 2: not JSON: column 14"});
  expect_refused(good + good, {"line 1", "not JSON"});
  expect_refused("{", {"line 1", "not JSON"});
  for (const char* number : {"01", "-", "1.", "1e", "+1", ".5", "1-2", "1e999x", "--1", "0x1", "1 2"})
    expect_refused(R"({"text":"a","n":)" + std::string(number) + "}", {"line 1", "not JSON"});
}

TEST_F(DocumentFiles, RecordsWithoutTextOrLabelAreNamed) {
  expect_refused(R"({"body":"a"})", {"line 1", "no \"text\", only \"body\"", "--text-field"});
  expect_refused("{}", {"no \"text\", only nothing"});
  expect_refused(R"({"text":null})", {"\"text\" is null"});
  expect_refused(R"({"text":5})", {"\"text\" is a number"});
  expect_refused(R"({"text":["a"]})", {"\"text\" is an array"});
  expect_refused(R"({"text":" \n"})", {"\"text\" is empty"});
  EXPECT_EQ(read_documents(write("d.jsonl", R"({"text":""})"), {.empty_text = true}).items.size(), 1u);
  expect_refused(R"({"text":"a","text":"b"})", {"\"text\" is given twice"});
  expect_refused(R"({"text":"a","x":1,"x":1})", {"\"x\" is given twice"});
  DocumentFormat required{.labels = Labels::required}, nullable{.labels = Labels::nullable};
  expect_refused(R"({"text":"a"})", {"no \"label\"", "--label-field"}, required);
  expect_refused(R"({"text":"a"})", {"no \"label\""}, nullable);
  expect_refused(R"({"text":"a","label":null})", {"\"label\" is null"}, required);
  EXPECT_EQ(read_documents(write("d.jsonl", R"({"text":"a","label":null})"), nullable).items[0].label, std::nullopt);
  EXPECT_EQ(read_documents(write("d.jsonl", R"({"text":"a","label":3})"), required).items[0].label, "3");
  expect_refused(R"({"text":"a","label":["x"]})", {"\"label\" is an array", "a string, a number, true, false or null"});
  expect_refused(R"({"text":"a","label":""})", {"\"label\" is empty"});
}

TEST_F(DocumentFiles, AnEndlessLineIsRefusedWithoutHoldingIt) {
  DocumentFormat format;
  format.longest_line = 1 << 20;
  std::string line = R"({"text":")" + std::string(3 << 20, 'a') + "\"}";
  expect_refused(good + "\n" + line + "\n", {"line 2", "longer than 1048576 bytes"}, format);
  expect_refused("text\n\"" + std::string(1 << 19, 'a') + "\n" + std::string(1 << 19, 'a') + "\n\n\"", {"line 2"},
                 format, "d.csv");
}

TEST_F(DocumentFiles, BadLinesAreCountedAndListedWhereTheyAreSkipped) {
  Path path = write("d.jsonl", good + "\n{\"body\":1}\nnot json\n" + good + "\n{\"text\":\"\xff\"}");
  Documents read = read_documents(path, {.skip_bad = true});
  EXPECT_EQ(read.items.size(), 2u);
  ASSERT_EQ(read.skipped.size(), 3u);
  EXPECT_EQ(read.skipped[0].line, 2);
  EXPECT_NE(read.skipped[0].why.find("no \"text\""), std::string::npos);
  EXPECT_EQ(read.skipped[1].line, 3);
  EXPECT_EQ(read.skipped[2].line, 5);
  expect_refused("{}\n{}\n", {"none of its 2 records"}, {.skip_bad = true});
}

TEST_F(DocumentFiles, AnErrorOfTheCallerIsNotABadLine) {
  Path path = write("d.jsonl", good);
  EXPECT_THROW(for_each_document(path, {.skip_bad = true}, [](Document&&) { fail("the caller's own"); }), Error);
}

TEST_F(DocumentFiles, CsvHasQuotedCommasQuotesAndLineEnds) {
  Documents read = read_documents(write("d.CSV",
                                        "id,text,label,patient\r\n"
                                        "1,plain,x,p1\r\n"
                                        "2,\"a, \"\"b\"\"\nsecond\",,\r\n"
                                        "\r\n"
                                        "3,6\" nail,y,p2"));
  ASSERT_EQ(read.items.size(), 3u);
  EXPECT_EQ(read.items[1].text, "a, \"b\"\nsecond");
  EXPECT_EQ(read.items[1].label, std::nullopt);
  EXPECT_TRUE(read.items[1].fields.empty());
  EXPECT_EQ(read.items[1].line, 3);
  EXPECT_EQ(read.items[2].text, "6\" nail");
  EXPECT_EQ(read.items[2].line, 6);
  EXPECT_EQ(read.items[2].fields.at("patient"), "p2");
}

TEST_F(DocumentFiles, TablesOfTheWrongFormAreRefused) {
  expect_refused("text,label\na,b,c\n", {"line 2", "3 values", "names 2"}, {}, "d.csv");
  expect_refused("text,label\n\"a\"b,c\n", {"line 2", "quoted value"}, {}, "d.csv");
  expect_refused("text,label\nx,y\n\"a,c\nd,e\n", {"line 3", "does not end"}, {}, "d.csv");
  expect_refused("text,text\na,b\n", {"line 1", "named twice"}, {}, "d.csv");
  expect_refused("text,\na,b\n", {"line 1", "one name is empty"}, {}, "d.csv");
  expect_refused("body\na\n", {"no \"text\""}, {}, "d.csv");
  expect_refused("text\tlabel\n\tx\n", {"\"text\" is empty"}, {}, "d.tsv");
}

TEST_F(DocumentFiles, TsvQuotesNothingAndTextIsALineEach) {
  Documents table = read_documents(write("d.tsv", "text\tlabel\n\"a\tx\n"));
  EXPECT_EQ(table.items.at(0).text, "\"a");
  Documents lines = read_documents(write("d.txt", "first\r\n\nthird"));
  ASSERT_EQ(lines.items.size(), 2u);
  EXPECT_EQ(lines.items[1].text, "third");
  EXPECT_EQ(lines.items[1].id, "3");
}

TEST_F(DocumentFiles, BlankLinesAreToldOnce) {
  std::vector<std::string> told;
  set_log_sink([&](LogLevel, const std::string& message) { told.push_back(message); });
  read_documents(write("d.txt", "first\n\nthird\n \t\r\n"));
  read_documents(write("d.jsonl", good + "\n\n"));
  read_documents(write("d.csv", "text\n\"a\n\nb\"\n\nc\n"));
  read_documents(write("e.txt", "first\nsecond\n"));
  set_log_sink({});
  ASSERT_EQ(told.size(), 3u);
  EXPECT_TRUE(told[0].ends_with("d.txt: 2 blank lines are passed over, the first is line 2")) << told[0];
  EXPECT_TRUE(told[1].ends_with("d.jsonl: a blank line is passed over: line 2")) << told[1];
  EXPECT_TRUE(told[2].ends_with("d.csv: a blank line is passed over: line 5")) << "those in quotes are text";
}

TEST_F(DocumentFiles, LinesOverTheReadersPiecesAreWhole) {
  std::string contents;
  for (int i = 0; i < 5000; ++i)  // 2 MB: the file is read in pieces of 1 MB
    contents += R"({"id":")" + std::to_string(i) + R"(","text":")" + std::string(400, static_cast<char>('a' + i % 26)) +
                "\"}\n";
  Documents read = read_documents(write("d.jsonl", contents));
  ASSERT_EQ(read.items.size(), 5000u);
  for (int i = 0; i < 5000; ++i) {
    const Document& one = read.items[static_cast<std::size_t>(i)];
    ASSERT_EQ(one.id, std::to_string(i));
    ASSERT_EQ(one.text, std::string(400, static_cast<char>('a' + i % 26)));
    ASSERT_EQ(one.line, i + 1);
  }
}

}  // namespace
}  // namespace attune
