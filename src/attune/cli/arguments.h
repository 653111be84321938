#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attune/base/config_reader.h"
#include "attune/base/usage_error.h"

namespace CLI {
class App;
}

namespace attune {

/// Declares what one command takes. The variables must live until the command has run. CLI11 stays behind this, in one
/// source.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  /// A word without a dash, in the order of the calls.
  void positional(const std::string& name, std::string& to, const std::string& help);
  void optional_positional(const std::string& name, std::string& to, const std::string& help);

  void option(const std::string& name, std::string& to, const std::string& help);
  void option(const std::string& name, std::optional<std::string>& to, const std::string& help);
  /// Numbers outside the range are wrong usage, told with the range.
  void option(const std::string& name, std::int64_t& to, const std::string& help, ConfigRange range = {});
  void option(const std::string& name, std::optional<std::int64_t>& to, const std::string& help,
              ConfigRange range = {});
  void option(const std::string& name, double& to, const std::string& help, ConfigRange range = {});
  void option(const std::string& name, std::optional<double>& to, const std::string& help, ConfigRange range = {});
  /// May be given several times; with `comma`, one value may hold several.
  void option(const std::string& name, std::vector<std::string>& to, const std::string& help, bool comma = false);
  void required(const std::string& name, std::string& to, const std::string& help);
  void required(const std::string& name, std::vector<std::string>& to, const std::string& help);
  /// One of `allowed`.
  void choice(const std::string& name, std::string& to, const std::vector<std::string>& allowed,
              const std::string& help);
  void choice(const std::string& name, std::optional<std::string>& to, const std::vector<std::string>& allowed,
              const std::string& help);
  void flag(const std::string& name, bool& to, const std::string& help);

  /// Any of these options without the other one, or with it, is wrong usage. All of them are declared before.
  void needs(const std::vector<std::string>& options, const std::string& other);
  void excludes(const std::vector<std::string>& options, const std::string& other);

  /// A command inside this one ("tokenizer train"); exactly one of them must be given.
  Arguments subcommand(const std::string& name, const std::string& help, const std::string& example, bool& chosen);

 private:
  CLI::App* app_;
};

}  // namespace attune
