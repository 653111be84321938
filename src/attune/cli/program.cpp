#include "attune/cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <new>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/cli/command.h"
#include "attune/cli/terminal.h"

namespace attune {

namespace {

constexpr const char* version_text = "attune " ATTUNE_VERSION;

struct CommonOptions {
  std::int64_t threads = 0;
  std::optional<std::int64_t> seed = {};
  bool quiet = false;
  std::string level = "info";
};

void declare_common(Arguments& arguments, CommonOptions& common) {
  arguments.option("--threads", common.threads, "threads to compute with; 0: all cores",
                   {.at_least = 0, .at_most = most_threads});
  arguments.option("--seed", common.seed, "of everything random: the same seed gives the same bits; else 0",
                   {.at_least = 0});
  arguments.flag("--quiet", common.quiet, "no progress, no warnings");
  arguments.choice("--log-level", common.level, {"debug", "info", "warning", "error"}, "how much is told on stderr");
}

LogLevel parse_level(const std::string& name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "warning") return LogLevel::warning;
  return name == "error" ? LogLevel::error : LogLevel::info;
}

std::string overview(const std::vector<Command>& all) {
  std::string text =
      std::string(version_text) +
      ": the whole life of a Transformer on your own machine\n\nUsage: attune COMMAND [MODEL] [options]\n";
  std::vector<std::string> stages;
  for (const Command& c : all)
    if (std::find(stages.begin(), stages.end(), c.stage) == stages.end()) stages.push_back(c.stage);
  for (const std::string& stage : stages) {
    text += "\n" + stage + ":\n";
    for (const Command& c : all)
      if (c.stage == stage) text += fmt::format("  {:<12} {}\n", c.name, c.summary);
  }
  return text + "\nattune COMMAND --help shows the options and an example. Nothing goes to the network.\n";
}

int act(const Action& action, const CommonOptions& common) {
  Terminal terminal({.quiet = common.quiet, .level = parse_level(common.level)});
  try {
    if (common.threads != 0) set_num_threads(static_cast<int>(common.threads));
    int status = action({.run = terminal.run(),
                         .quiet = common.quiet,
                         .seed = static_cast<std::uint64_t>(common.seed.value_or(0)),
                         .seeded = common.seed.has_value()});
    check(std::fflush(stdout) == 0, "writing the results: the disk or pipe behind stdout refused");
    return status;
  } catch (const Cancelled& stopped) {
    log(LogLevel::warning, stopped.what());
    return exit_interrupted;
  } catch (const UsageError& wrong) {
    log(LogLevel::error, wrong.what());
    return exit_usage;
  } catch (const Error& error) {
    log(LogLevel::error, error.what());
  } catch (const std::bad_alloc&) {
    log(LogLevel::error,
        "out of memory: take less at once (in training a smaller train.batch_tokens, elsewhere shorter texts, lengths "
        "or "
        "batches), or a larger machine");
  } catch (const std::filesystem::filesystem_error& error) {
    log(LogLevel::error, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    log(LogLevel::error, fmt::format("a fault of the program itself, not of what it was given: {}", error.what()));
  }
  return exit_failed;
}

/// What is wrong with an option that there is not; "" where all are there.
std::string unknown_option(const CLI::App& app) {
  std::vector<std::string> known;
  const auto add_names = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  };
  add_names(app);
  for (const CLI::App* sub : app.get_subcommands()) add_names(*sub);
  for (const std::string& word : app.remaining(true)) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string name = word.substr(0, word.find('=')), near = nearest_name(name, known);
    return fmt::format("there is no option {}{}", name, near.empty() ? "" : fmt::format(", did you mean {}?", near));
  }
  return "";
}

}  // namespace

int run_program(int argc, char** argv) {
  std::vector<Command> all = commands();
  if (argc < 2 || std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h" || std::string(argv[1]) == "help") {
    std::fputs(overview(all).c_str(), stdout);
    return argc < 2 ? exit_usage : 0;
  }
  if (std::string(argv[1]) == "--version") {
    std::printf("%s\n", version_text);
    return 0;
  }
  std::string name = argv[1];
  std::vector<std::string> names;
  for (const Command& c : all) names.push_back(c.name);
  auto chosen = std::find(names.begin(), names.end(), name);
  if (chosen == names.end()) {
    std::string near = nearest_name(name, names);
    fmt::print(stderr, "attune: error: \"{}\" is not a command{}: attune --help lists them\n", name,
               near.empty() ? "" : ", did you mean \"" + near + "\"?");
    return exit_usage;
  }
  const Command& command = all[static_cast<std::size_t>(chosen - names.begin())];
  CLI::App app(command.summary, "attune " + command.name);
  app.footer("Example:\n  " + command.example);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  CommonOptions common;
  Arguments arguments(app);
  Action action = command.declare(arguments);
  declare_common(arguments, common);
  app.fallthrough();
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* sub : app.get_subcommands()) return std::fputs(sub->help(app.get_name()).c_str(), stdout), 0;
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_option(app);
    fmt::print(stderr, "attune: error: {}: {}: see attune {} --help\n", command.name,
               unknown.empty() ? error.what() : unknown, command.name);
    return exit_usage;
  }
  Terminal::watch_signals();
  return act(action, common);
}

}  // namespace attune
