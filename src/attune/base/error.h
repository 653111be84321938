#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <utility>

#include "attune/base/error_type.h"

namespace attune {

/// A long call was stopped through Run::cancel (base/run.h); its state is saved. Not a fault: the program exits with
/// 130.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// Throws Error with a formatted message.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Error with a formatted message unless `holds`. The message is made only then.
template <class... Args>
void check(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) [[unlikely]]
    fail(format, std::forward<Args>(args)...);
}

/// Runs `work`; an Error out of it gets "doing: " in front. Example: within("reading data.jsonl, line 7", [&] { ... }).
template <class Work>
auto within(const std::string& doing, Work&& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error(doing + ": " + error.what());
  }
}

/// The name among `candidates` nearest to `name` by edit distance, or "" where none is near: for "did you mean"
/// messages.
template <class Names>
std::string nearest_name(const std::string& name, const Names& candidates);
std::size_t edit_distance(const std::string& a, const std::string& b);

template <class Names>
std::string nearest_name(const std::string& name, const Names& candidates) {
  std::string best;
  std::size_t best_distance = name.size() / 3 + 2;
  for (const auto& candidate : candidates) {
    std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

}  // namespace attune
