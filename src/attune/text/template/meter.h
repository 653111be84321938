#pragma once

#include <cstddef>
#include <cstdint>

namespace attune::jinja {

/// What a template may cost before it is stopped: a template comes with a model, from people whom its user never met.
struct Limits {
  int depth = 1000;                    // of statements, expressions and macros within each other
  std::int64_t steps = 50'000'000;     // expressions, and items or characters that one walks over
  std::int64_t bytes = 1'000'000'000;  // of all texts and lists that are made
  std::int64_t output = 64'000'000;    // of the result
};

/// Counts what one rendering costs; throws Error that names the limit where it is reached.
class Meter {
 public:
  explicit Meter(const Limits& limits) : limits_(limits) {}

  void step(std::uint64_t count = 1) {
    if (count > left(limits_.steps, steps_)) too_long();
    steps_ += static_cast<std::int64_t>(count);
  }
  /// Before memory is asked for.
  void make(std::uint64_t bytes) {
    if (bytes > left(limits_.bytes, bytes_)) too_much();
    bytes_ += static_cast<std::int64_t>(bytes);
  }
  /// `count` times `bytes`.
  void make(std::uint64_t count, std::uint64_t bytes) {
    std::uint64_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) too_much();
    make(all);
  }

  /// One level deeper, as long as it lives.
  class Level {
   public:
    explicit Level(Meter& meter) : meter_(meter) {
      if (++meter_.depth_ > meter_.limits_.depth) {
        --meter_.depth_;
        meter_.too_deep();
      }
    }
    ~Level() { --meter_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Meter& meter_;
  };

  const Limits& limits() const { return limits_; }

 private:
  static std::uint64_t left(std::int64_t limit, std::int64_t used) { return static_cast<std::uint64_t>(limit - used); }
  [[noreturn]] void too_long() const;
  [[noreturn]] void too_much() const;
  [[noreturn]] void too_deep() const;

  Limits limits_;
  int depth_ = 0;
  std::int64_t steps_ = 0, bytes_ = 0;
};

}  // namespace attune::jinja
