#pragma once

#include "attune/text/template/context.h"

namespace attune::jinja {

/// text.replace(old, with, most), all texts; below 0: every one.
Value replaced(Context& context, const Value& text, const Value& old, const Value& with, long most);

/// Whether some character is of the right case and none of the wrong one: str.islower, str.isupper.
bool in_case(Context& context, std::string_view text, bool (*wrong)(char32_t), bool (*right)(char32_t));

}  // namespace attune::jinja
