#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "attune/base/json.h"
#include "attune/cli/arguments.h"
#include "attune/data/documents.h"

namespace attune {

/// What a command that reads texts is given: one text, or a file of records.
struct InputArguments {
  std::string text_option = "--text";  // "--prompt" where that is what the text is
  std::optional<std::string> text;
  std::optional<std::string> file;  // "-": standard input
  std::string text_field = "text";
  bool skip_bad = false;
};
void declare_input(Arguments& arguments, InputArguments& input);

/// Reads it as documents; a text given as an option has the id "1". Lines that --skip-bad left out are counted and
/// listed in the log. `format` may ask for more than the arguments say (empty texts, labels). Throws Error unless
/// exactly one of the two was given, and as read_documents() does.
Documents read_input(const InputArguments& input, DocumentFormat format = {});
/// The same for a command that asks more of a document than its format: it calls check_input() for that, and
/// tell_skipped() at the end.
Documents read_input_untold(const InputArguments& input, DocumentFormat format);
/// Gives each document to `use`. One that it throws Error for is a bad line: an Error that names file and line, or left
/// out with --skip-bad; an Error, too, where none is left.
void check_input(Documents& documents, const InputArguments& input, const std::function<void(const Document&)>& use);
void tell_skipped(const Documents& documents);
/// Reads a file of documents as a command's --data, with the same account of bad lines.
Documents read_data(const std::string& file, const DocumentFormat& format);

/// Where results go.
struct OutputArguments {
  std::optional<std::string> file;
  bool json = false;  // JSON lines instead of text for people
};
void declare_output(Arguments& arguments, OutputArguments& output);

/// Results one after another: to standard output, or to a file that appears whole when finish() is called and not at
/// all without. Create it before the work, so that a place that cannot be written is known at once.
class Output {
 public:
  explicit Output(const OutputArguments& arguments);
  void line(std::string_view text);
  /// One JSON line: the document's id as it stood in the input (1e5 stays 1e5), then the members of `result`.
  void record(const Document& document, const Json& result);
  /// Throws Error where the disk, or what reads standard output, refused.
  void finish();

 private:
  std::unique_ptr<AtomicFile> file_;
};

}  // namespace attune
