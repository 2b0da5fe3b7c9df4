#pragma once
#include <chrono>
#include <ctime>

namespace xleak::monitor {

/// Wakes one thread at a set time, by a signal that only this thread gets and no handler sees.
/// Needs no descriptor, which user code could close while the thread waits for it. To set it is one
/// system call; to wake the thread for that would take the processor of the one that sets it.
class ThreadTimer {
 public:
  /// Made by the thread that waits, in which all signals are blocked. Throws std::system_error.
  ThreadTimer();
  ~ThreadTimer();
  ThreadTimer(const ThreadTimer&) = delete;
  ThreadTimer& operator=(const ThreadTimer&) = delete;

  /// From any thread. A time that was set before counts no longer; 0 sets none.
  void set(std::chrono::nanoseconds delay) const noexcept;
  /// Reruns once the time has come, or earlier. Only the thread that made it waits.
  void wait() const noexcept;

 private:
  timer_t timer_{};
};

}  // namespace xleak::monitor
