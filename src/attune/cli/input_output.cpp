#include "attune/cli/input_output.h"

#include <algorithm>
#include <cstdio>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/data/record.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

constexpr std::size_t bad_lines_listed = 20;

Documents one_text(const InputArguments& input, const DocumentFormat& format) {
  return within(input.text_option, [&] {
    const std::string& text = *input.text;
    if (auto bad = find_invalid_utf8(text))
      fail("byte {} ({:#04x}) is not UTF-8: give the text in UTF-8, as a terminal does by its locale (LANG=C.UTF-8)",
           *bad + 1, static_cast<unsigned char>(text[*bad]));
    check(format.empty_text || text.find_first_not_of(" \t\r\n\f\v") != std::string::npos,
          "it is empty: give a text, or a file of them with --input");
    RecordBuilder record(1, format);
    record.add(format.text_field, *input.text, RecordBuilder::Kind::string);
    Documents documents;
    documents.source = input.text_option;
    documents.items.push_back(record.take());
    return documents;
  });
}

}  // namespace

void declare_input(Arguments& arguments, InputArguments& input) {
  const bool usual = input.text_option == "--text";
  arguments.option(usual ? "--text" : input.text_option + ",--text", input.text, "one text");
  arguments.option("--input", input.file, "file of records (JSON lines; .csv, .tsv, .txt by their ending), or -");
  arguments.option("--text-field", input.text_field, "the field that holds the text");
  arguments.flag("--skip-bad", input.skip_bad, "leave out bad lines, and list them, instead of stopping");
  arguments.needs({"--text-field", "--skip-bad"}, "--input");
}

void tell_skipped(const Documents& documents) {
  if (documents.skipped.empty()) return;
  log_warning(fmt::format("{}: {} bad line{} skipped, {} read", documents.source, documents.skipped.size(),
                          documents.skipped.size() == 1 ? "" : "s", documents.items.size()));
  for (std::size_t i = 0; i < documents.skipped.size() && i < bad_lines_listed; ++i)
    log_warning(fmt::format("  line {}: {}", documents.skipped[i].line, documents.skipped[i].why));
  if (documents.skipped.size() > bad_lines_listed)
    log_warning(fmt::format("  and {} more", documents.skipped.size() - bad_lines_listed));
}

Documents read_input_untold(const InputArguments& input, DocumentFormat format) {
  check_usage(input.text.has_value() != input.file.has_value(),
              "nothing to read, or two things: give {} or --input FILE", input.text_option);
  format.text_field = input.text_field;
  format.skip_bad = input.skip_bad;
  if (input.text) return one_text(input, format);
  return read_documents(*input.file, format);
}

Documents read_input(const InputArguments& input, DocumentFormat format) {
  Documents documents = read_input_untold(input, std::move(format));
  tell_skipped(documents);
  return documents;
}

void check_input(Documents& documents, const InputArguments& input, const std::function<void(const Document&)>& use) {
  std::vector<Document> good;
  for (Document& document : documents.items) {
    try {
      use(document);
    } catch (const Error& error) {
      if (!input.file) fail("{}: {}", input.text_option, error.what());
      if (!input.skip_bad) fail("reading {}, line {}: {}", documents.source, document.line, error.what());
      documents.skipped.push_back({document.line, error.what()});
      continue;
    }
    good.push_back(std::move(document));
  }
  documents.items = std::move(good);
  std::ranges::stable_sort(documents.skipped, {}, &BadLine::line);
  if (documents.items.empty())
    fail("reading {}: none of its {} records can be used; line {}: {}", documents.source, documents.skipped.size(),
         documents.skipped[0].line, documents.skipped[0].why);
}

Documents read_data(const std::string& file, const DocumentFormat& format) {
  Documents documents = read_documents(file, format);
  tell_skipped(documents);
  return documents;
}

void declare_output(Arguments& arguments, OutputArguments& output) {
  arguments.option("--output", output.file, "file for the results, written whole or not at all; else standard output");
  arguments.flag("--json", output.json, "a JSON line for each input, in the input's order");
}

Output::Output(const OutputArguments& arguments) {
  if (arguments.file) file_ = std::make_unique<AtomicFile>(*arguments.file);
}

void Output::line(std::string_view text) {
  if (file_) {
    file_->write(text);
    file_->write("\n");
    return;
  }
  bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fputc('\n', stdout) != EOF;
  check(written, "writing the results: the disk or pipe behind standard output refused");
}

void Output::record(const Document& document, const Json& result) {
  line("{\"id\":" + id_as_json(document) + "," + to_text(result).substr(1));
}

void Output::finish() {
  if (file_) file_->commit();
  check(std::fflush(stdout) == 0, "writing the results: the disk or pipe behind standard output refused");
}

}  // namespace attune
