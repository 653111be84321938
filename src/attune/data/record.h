#pragma once

#include <string>
#include <string_view>

#include "attune/data/documents.h"

namespace attune {

/// Builds one Document from named values, whatever the file's form, and checks what every form has in common.
class RecordBuilder {
 public:
  enum class Kind { string, literal, nested, null };  // literal: a number, true or false; nested: an array or an object

  RecordBuilder(std::int64_t line, const DocumentFormat& format) : format_(format) { document_.line = line; }

  /// `value` is the string itself, or the JSON text of another kind. Throws Error on a name given twice, NUL or a wrong
  /// type.
  void add(std::string_view name, std::string value, Kind kind);
  /// Throws Error where text or label is missing.
  Document take();

 private:
  void add_text(std::string value, Kind kind);
  void add_label(std::string value, Kind kind);
  void add_id(std::string value, Kind kind);
  std::string names_seen() const;

  const DocumentFormat& format_;
  Document document_;
  bool text_seen_ = false, label_seen_ = false, id_seen_ = false;
};

/// Throws Error, with the place counted from 1, on bytes that are not UTF-8 and on NUL.
void check_plain_text(std::string_view text);

}  // namespace attune
