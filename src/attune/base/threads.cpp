#include "attune/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "attune/base/error.h"
#include "attune/base/stop.h"

namespace attune {

namespace {

/// True while this thread runs a piece: a nested parallel() then runs inline.
thread_local bool in_piece = false;

/// What a StopWithin of this thread looks at.
thread_local const std::atomic<bool>* stop_flag = nullptr;

void throw_if_stopped(const std::atomic<bool>* flag) {
  if (flag && flag->load(std::memory_order_relaxed)) throw Cancelled("stopped: no result was written");
}

struct InPiece {
  explicit InPiece(bool now) : before(in_piece) { in_piece = now; }
  ~InPiece() { in_piece = before; }
  InPiece(const InPiece&) = delete;
  InPiece& operator=(const InPiece&) = delete;
  const bool before;
};

/// The control group's share of processors (cgroup v2), which a container is given instead of a mask.
int cores_of_control_group() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return std::numeric_limits<int>::max();
  return std::max(1, static_cast<int>(std::stod(quota) / period + 0.5));
}

int usable_cores() {
  static const int cores = [] {
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                        : static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(std::min(n, cores_of_control_group()), 1, most_threads);
  }();
  return cores;
}

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks at `ready` for about `for_time` without giving up the core. Kernels follow each other within microseconds, and
/// waking a sleeping thread costs more than that.
template <class Ready>
bool spin(std::chrono::microseconds for_time, Ready&& ready) {
  if (ready()) return true;
  if (for_time.count() == 0) return false;
  const auto end = std::chrono::steady_clock::now() + for_time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

/// The thread looks at another one's flag while it works for that.
struct StopsWith {
  explicit StopsWith(const std::atomic<bool>* flag) : before(stop_flag) { stop_flag = flag; }
  ~StopsWith() { stop_flag = before; }
  StopsWith(const StopsWith&) = delete;
  StopsWith& operator=(const StopsWith&) = delete;
  const std::atomic<bool>* const before;
};

/// One call of parallel(): the pieces, which threads take in order, and the first failure.
struct Job {
  const std::int64_t count, grain, pieces;
  const RangeFunction body;
  const std::atomic<bool>* const stop = stop_flag;  // the caller's
  std::atomic<std::int64_t> next{0};
  std::mutex failure_mutex;
  std::int64_t failed_piece = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr failure;

  Job(std::int64_t all, std::int64_t grain_size, RangeFunction work)
      : count(all), grain(grain_size), pieces((all - 1) / grain_size + 1), body(work) {}

  void run_pieces() {
    const InPiece mark(true);
    const StopsWith caller(stop);
    for (;;) {
      std::int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces) break;
      try {
        throw_if_stopped(stop);
        body(piece * grain, std::min(count, piece * grain + grain));
      } catch (...) {
        // Every earlier piece has been taken already, so the first failure in order is among those that still run.
        next.store(pieces, std::memory_order_relaxed);
        std::lock_guard lock(failure_mutex);
        if (piece < failed_piece) failed_piece = piece, failure = std::current_exception();
      }
    }
  }
};

/// Worker threads that help the caller with one job at a time. A worker that wakes too late finds no job and is not
/// waited for.
class Pool {
 public:
  ~Pool() { stop(); }

  int threads() const { return threads_.load(std::memory_order_relaxed); }

  void set_threads(int threads) {
    std::lock_guard one_job(job_mutex_);
    stop();
    threads_.store(threads, std::memory_order_relaxed);
  }

  /// False if another thread has the pool: the caller then does the work alone.
  bool run(Job& job) {
    std::unique_lock one_job(job_mutex_, std::try_to_lock);
    if (!one_job) return false;
    if (workers_.empty()) start();
    job_.store(&job);
    generation_.fetch_add(1);
    if (sleeping_.load() > 0) {
      { std::lock_guard lock(sleep_mutex_); }
      wake_workers_.notify_all();
    }
    job.run_pieces();
    job_.store(nullptr);
    // A worker counts itself in before it looks for the job, so from here on either it sees none or we see it.
    if (!spin(spin_time_, [&] { return helping_.load() == 0; })) {
      std::unique_lock lock(sleep_mutex_);
      caller_sleeps_.store(true);
      wake_caller_.wait(lock, [&] { return helping_.load() == 0; });
      caller_sleeps_.store(false);
    }
    return true;
  }

 private:
  void start() {
    const int helpers = threads() - 1;
    // More threads than cores: whoever spins keeps one with work from running.
    spin_time_ = std::chrono::microseconds(threads() <= usable_cores() ? 60 : 0);
    stopping_ = false;
    const std::uint64_t seen = generation_.load();
    for (int i = 0; i < helpers; ++i) workers_.emplace_back([this, seen] { work(seen); });
  }

  void stop() {
    {
      std::lock_guard lock(sleep_mutex_);
      stopping_ = true;
      generation_.fetch_add(1);
    }
    wake_workers_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  void work(std::uint64_t seen) {
    auto called = [&] { return generation_.load() != seen; };
    for (;;) {
      if (!spin(spin_time_, called)) {
        std::unique_lock lock(sleep_mutex_);
        sleeping_.fetch_add(1);
        wake_workers_.wait(lock, called);
        sleeping_.fetch_sub(1);
      }
      seen = generation_.load();
      if (stopping_.load()) return;
      helping_.fetch_add(1);
      if (Job* job = job_.load()) job->run_pieces();
      if (helping_.fetch_sub(1) == 1 && caller_sleeps_.load()) {
        { std::lock_guard lock(sleep_mutex_); }
        wake_caller_.notify_one();
      }
    }
  }

  std::mutex job_mutex_;
  std::atomic<int> threads_{usable_cores()};
  std::vector<std::thread> workers_;
  std::chrono::microseconds spin_time_{0};

  // Sequentially consistent on purpose: each pair "I store mine, then look at yours" depends on it.
  std::atomic<Job*> job_{nullptr};
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> helping_{0}, sleeping_{0};
  std::atomic<bool> caller_sleeps_{false}, stopping_{false};
  std::mutex sleep_mutex_;
  std::condition_variable wake_workers_, wake_caller_;
};

Pool& pool() {
  static Pool one;
  return one;
}

}  // namespace

StopWithin::StopWithin(const Run& run) : before_(stop_flag) {
  if (run.cancel) stop_flag = run.cancel;
}

StopWithin::~StopWithin() { stop_flag = before_; }

void throw_if_stopped() { throw_if_stopped(stop_flag); }

int num_threads() { return pool().threads(); }

void set_num_threads(int threads) {
  check(threads >= 1 && threads <= most_threads, "the number of threads is {}: expected 1 to {}", threads,
        most_threads);
  check(!in_piece, "the number of threads can not change inside parallel work");
  if (threads != pool().threads()) pool().set_threads(threads);
}

void parallel(std::int64_t count, std::int64_t grain, RangeFunction body) {
  check(grain > 0, "parallel: the grain is {}: expected 1 or more", grain);
  if (count <= 0) return;
  const std::int64_t pieces = (count - 1) / grain + 1;
  if (pieces > 1 && !in_piece && num_threads() > 1) {
    Job job(count, grain, body);
    if (pool().run(job)) {
      if (job.failure) std::rethrow_exception(job.failure);
      return;
    }
  }
  // A lone piece is no cutting up: parallel work inside it may still use the pool.
  const InPiece mark(in_piece || pieces > 1);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    throw_if_stopped(stop_flag);
    body(piece * grain, std::min(count, piece * grain + grain));
  }
}

}  // namespace attune
