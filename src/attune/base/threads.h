#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace attune {

/// A non-owning reference to a callable of (begin, end): cheap, and never allocates.
class RangeFunction {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, RangeFunction>) RangeFunction(F&& f)  // NOLINT: implicit on purpose
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, std::int64_t begin, std::int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(object))(begin, end);
        }) {}
  void operator()(std::int64_t begin, std::int64_t end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t, std::int64_t);
};

/// Number of threads that parallel() uses, the caller's included. At first the number of cores this process may use.
int num_threads();
inline constexpr int most_threads = 1024;
/// Throws Error unless 1 <= threads <= most_threads. Not to be called from inside parallel().
void set_num_threads(int threads);

/// Calls body(begin, end) for the pieces [0, grain), [grain, 2 grain), ... of [0, count), on the one pool. The pieces
/// depend on `grain` alone, never on the number of threads, so a body that sums within its piece gives the same bits on
/// any machine. Nested calls run inline. The first exception, in the order of pieces, is thrown again after all pieces
/// have ended.
void parallel(std::int64_t count, std::int64_t grain, RangeFunction body);

}  // namespace attune
