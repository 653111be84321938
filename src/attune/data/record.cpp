#include "attune/data/record.h"

#include <algorithm>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

std::string_view describe(RecordBuilder::Kind kind) {
  switch (kind) {
    case RecordBuilder::Kind::string:
      return "a string";
    case RecordBuilder::Kind::literal:
      return "a number, true or false";
    case RecordBuilder::Kind::nested:
      return "an array or an object";
    case RecordBuilder::Kind::null:
      return "null";
  }
  return "";
}

bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos; }

}  // namespace

void RecordBuilder::add(std::string_view name, std::string value, Kind kind) {
  check(value.find('\0') == std::string::npos && name.find('\0') == std::string_view::npos,
        "{} contains a NUL character: remove it, text has none", json_quoted(name));
  if (name == format_.text_field) {
    add_text(std::move(value), kind);
  } else if (name == format_.label_field) {
    add_label(std::move(value), kind);
  } else if (name == format_.id_field) {
    add_id(std::move(value), kind);
  } else if (kind != Kind::null) {
    bool fresh = document_.fields.emplace(std::string(name), std::move(value)).second;
    check(fresh, "{} is given twice", json_quoted(name));
    if (kind != Kind::string) document_.literals.emplace_back(name);
  }
}

void RecordBuilder::add_text(std::string value, Kind kind) {
  check(!text_seen_, "{} is given twice", json_quoted(format_.text_field));
  const bool nested = kind == Kind::nested && format_.nested_text;
  check(kind == Kind::string || nested, "{} is {}: expected a string{}", json_quoted(format_.text_field),
        describe(kind), format_.nested_text ? " or a list" : "");
  check(format_.empty_text || !blank(value), "{} is empty: write a text, or leave the record out",
        json_quoted(format_.text_field));
  text_seen_ = true;
  document_.text = std::move(value);
  if (nested) document_.literals.push_back(format_.text_field);
}

void RecordBuilder::add_label(std::string value, Kind kind) {
  check(!label_seen_, "{} is given twice", json_quoted(format_.label_field));
  label_seen_ = true;
  if (kind == Kind::null) return;
  check(kind != Kind::nested, "{} is {}: expected a string, a number, true, false or null",
        json_quoted(format_.label_field), describe(kind));
  check(!blank(value), "{} is empty: a document of no category has null", json_quoted(format_.label_field));
  document_.label = std::move(value);
  if (kind == Kind::literal) document_.literals.push_back(format_.label_field);
}

void RecordBuilder::add_id(std::string value, Kind kind) {
  check(!id_seen_, "{} is given twice", json_quoted(format_.id_field));
  id_seen_ = true;
  if (kind == Kind::null) return;
  check(kind != Kind::nested, "{} is {}: expected a string or a number", json_quoted(format_.id_field), describe(kind));
  document_.id = std::move(value);
  if (kind == Kind::literal) document_.literals.push_back(format_.id_field);
}

std::string RecordBuilder::names_seen() const {
  std::string names;
  auto append = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + json_quoted(name); };
  if (id_seen_) append(format_.id_field);
  if (text_seen_) append(format_.text_field);
  if (label_seen_) append(format_.label_field);
  std::size_t listed = 0;
  for (const auto& [name, value] : document_.fields) {
    if (++listed > 20) return names + ", ...";
    append(name);
  }
  return names.empty() ? "nothing" : names;
}

Document RecordBuilder::take() {
  check(text_seen_, "it has no {}, only {}: name the field that holds the text (--text-field)",
        json_quoted(format_.text_field), names_seen());
  check(label_seen_ || format_.labels == Labels::optional,
        "it has no {}, only {}: name the field that holds the label (--label-field)", json_quoted(format_.label_field),
        names_seen());
  check(document_.label.has_value() || format_.labels != Labels::required,
        "{} is null: a label is needed here (a document of no category belongs in evaluation data)",
        json_quoted(format_.label_field));
  document_.id_given = id_seen_;
  document_.label_given = label_seen_;
  if (document_.id.empty()) document_.id = std::to_string(document_.line);
  return std::move(document_);
}

void check_plain_text(std::string_view text) {
  std::size_t nul = text.find('\0');
  check(nul == std::string_view::npos, "byte {} is NUL: this is not a text file", nul + 1);
  if (auto bad = find_invalid_utf8(text))
    fail("byte {} of the line ({:#04x}) is not UTF-8: convert the file (iconv -t UTF-8)", *bad + 1,
         static_cast<unsigned char>(text[*bad]));
}

}  // namespace attune
