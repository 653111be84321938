#include "attune/cli/arguments.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <charconv>

namespace attune {

namespace {

CLI::Option* add(CLI::App& app, const std::string& name, auto& to, const std::string& help) {
  return app.add_option(name, to, help)->capture_default_str();
}

/// A whole number that 64 bits hold; CLI11 alone takes the nearest that they do.
std::string whole_number_fault(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stopped, fault] = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, value);
  return fault == std::errc() && stopped == end ? "" : text + " is no whole number within 64 bits";
}

const CLI::Validator whole_number(whole_number_fault, "");

const CLI::Validator not_empty([](const std::string& text) { return text.empty() ? "it is empty" : ""; }, "");

CLI::Validator within_range(ConfigRange range) {
  return CLI::Validator(
      [range](const std::string& text) -> std::string {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value) || range.holds(value))
          return "";  // what is no number is told already
        return fmt::format("{} is not {}", text, range.text().empty() ? "a number" : range.text());
      },
      "");
}

}  // namespace

void Arguments::positional(const std::string& name, std::string& to, const std::string& help) {
  app_->add_option(name, to, help)->required()->check(not_empty);
}
void Arguments::optional_positional(const std::string& name, std::string& to, const std::string& help) {
  app_->add_option(name, to, help)->check(not_empty);
}
void Arguments::option(const std::string& name, std::string& to, const std::string& help) {
  add(*app_, name, to, help);
}
void Arguments::option(const std::string& name, std::optional<std::string>& to, const std::string& help) {
  app_->add_option(name, to, help);
}
void Arguments::option(const std::string& name, std::int64_t& to, const std::string& help, ConfigRange range) {
  add(*app_, name, to, help)->check(whole_number)->check(within_range(range));
}
void Arguments::option(const std::string& name, std::optional<std::int64_t>& to, const std::string& help,
                       ConfigRange range) {
  app_->add_option(name, to, help)->check(whole_number)->check(within_range(range));
}
void Arguments::option(const std::string& name, double& to, const std::string& help, ConfigRange range) {
  add(*app_, name, to, help)->check(within_range(range));
}
void Arguments::option(const std::string& name, std::optional<double>& to, const std::string& help, ConfigRange range) {
  app_->add_option(name, to, help)->check(within_range(range));
}
void Arguments::option(const std::string& name, std::vector<std::string>& to, const std::string& help, bool comma) {
  CLI::Option* option = app_->add_option(name, to, help);
  if (comma) option->delimiter(',');
}
void Arguments::required(const std::string& name, std::string& to, const std::string& help) {
  app_->add_option(name, to, help)->required();
}
void Arguments::required(const std::string& name, std::vector<std::string>& to, const std::string& help) {
  app_->add_option(name, to, help)->required();
}
void Arguments::choice(const std::string& name, std::string& to, const std::vector<std::string>& allowed,
                       const std::string& help) {
  add(*app_, name, to, help)->check(CLI::IsMember(allowed));
}
void Arguments::choice(const std::string& name, std::optional<std::string>& to, const std::vector<std::string>& allowed,
                       const std::string& help) {
  app_->add_option(name, to, help)->check(CLI::IsMember(allowed));
}
void Arguments::flag(const std::string& name, bool& to, const std::string& help) { app_->add_flag(name, to, help); }

void Arguments::needs(const std::vector<std::string>& options, const std::string& other) {
  for (const std::string& name : options) app_->get_option(name)->needs(app_->get_option(other));
}
void Arguments::excludes(const std::vector<std::string>& options, const std::string& other) {
  for (const std::string& name : options) app_->get_option(name)->excludes(app_->get_option(other));
}

Arguments Arguments::subcommand(const std::string& name, const std::string& help, const std::string& example,
                                bool& chosen) {
  CLI::App* sub = app_->add_subcommand(name, help);
  sub->footer("Example:\n  " + example);
  sub->fallthrough();  // the options of all commands may follow
  sub->callback([&chosen] { chosen = true; });
  app_->require_subcommand(1);
  return Arguments(*sub);
}

}  // namespace attune
