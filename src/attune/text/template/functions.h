#pragma once

#include <map>
#include <string>
#include <string_view>

#include "attune/text/template/context.h"

namespace attune::jinja {

/// value|filter(...); null where there is no such filter.
using Filter = Value (*)(Context& context, const Value& value, const Call& call);
Filter find_filter(std::string_view name);

/// value is test(...); null where there is no such test.
using Test = bool (*)(Context& context, const Value& value, const Call& call);
Test find_test(std::string_view name);

/// The filters of each kind, by name.
using Filters = std::map<std::string_view, Filter>;
const Filters& text_filters();
const Filters& number_filters();
const Filters& item_filters();     // of one list at a time: join, sort, batch, ...
const Filters& mapping_filters();  // that call others for each item: map, select, ...

/// json.dumps(value, ...) with the options of transformers' "tojson".
Value to_json(Context& context, const Value& value, const Call& call);

/// "a.b.0" as Jinja's filters look it up in an item; `attribute` none: the item itself.
Value lookup_path(Context& context, const Value& item, const Value& attribute);

/// Text in lower case unless that is asked for; other values as they are.
Value ignoring_case(Context& context, const Value& value, bool case_sensitive);

}  // namespace attune::jinja
