#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/base/json.h"
#include "attune/text/template/meter.h"

namespace attune::jinja {

/// What a template is rendered with.
struct Variables {
  std::vector<std::pair<std::string, JsonValue>> values = {};  // a later one of a name counts
  std::optional<std::tm> now = {};                             // what strftime_now() knows; without it there is none
  Limits limits = {};
};

/// A parsed template in the language of jinja2, with the settings that transformers gives it: trim_blocks,
/// lstrip_blocks, break and continue, its tojson, raise_exception, strftime_now, {% generation %}, and a sandbox in
/// which nothing that it is given can be changed. Not supported, because a template here is one file of plain text:
/// block, extends, include, import, autoescape, print, and the filters random, pprint, urlencode, urlize, wordwrap,
/// striptags, xmlattr, filesizeformat. A handle: copies share one template that never changes. Safe from many threads
/// at once.
class Template {
 public:
  /// Throws Error "SOURCE, line N: what" where it is no template.
  static Template parse(std::string_view text, const std::string& source);

  /// The text. Throws Error "SOURCE, line N: what" where the template fails or reaches a limit.
  std::string render(const Variables& variables) const;

 private:
  struct Parts;
  explicit Template(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace attune::jinja
