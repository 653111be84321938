#include "attune/text/template/template.h"

#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/text/template/globals.h"
#include "attune/text/template/parser.h"

namespace attune::jinja {

struct Template::Parts {
  std::string source;
  Names names;
  Statements statements;
};

namespace {

Value from_json(Context& context, const Json& json) {
  Meter::Level level(context);
  context.step();
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value::truth(json.get<bool>());
    case Json::value_t::number_integer:
      return Value::whole(json.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return Value::whole(json.get<std::uint64_t>());
    case Json::value_t::number_float:
      return Value::real(json.get<double>());
    case Json::value_t::string:
      return context.text(json.get<std::string>());
    case Json::value_t::array: {
      Items items;
      for (const Json& item : json) items.push_back(from_json(context, item));
      return context.list(std::move(items));
    }
    case Json::value_t::object: {
      Dict dict;
      for (const auto& [key, value] : json.items()) {
        context.make(2 * sizeof(Value));
        dict.set(context.text(key), from_json(context, value));
      }
      return Value::dict(std::move(dict));
    }
    default:
      return {};
  }
}

}  // namespace

Template Template::parse(std::string_view text, const std::string& source) {
  auto parts = std::make_shared<Parts>();
  parts->source = source;
  parts->statements = Parser(tokenize(text, parts->source), parts->source, parts->names).parse();
  return Template(std::move(parts));
}

std::string Template::render(const Variables& variables) const {
  Context context(variables.limits);
  std::string text;
  try {
    std::shared_ptr<Scope> given = Scope::inside(nullptr);
    const auto& names = parts_->names.all();  // only what the template speaks of is converted
    for (const auto& [name, value] : global_functions(variables.now))
      if (const auto found = names.find(name); found != names.end()) given->set(found->second, value);
    for (const auto& [name, value] : variables.values)
      if (const auto found = names.find(name); found != names.end())
        given->set(found->second, from_json(context, *value));
    Frame frame{context, Scope::inside(given), &text};
    execute(parts_->statements, frame);
  } catch (const Error& error) {
    fail_at(parts_->source, context.line, "{}", error.what());
  }
  return text;
}

}  // namespace attune::jinja
