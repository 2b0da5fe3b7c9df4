#pragma once
#include <chrono>
#include <functional>
#include <optional>

namespace xleak::facts {

/// The processor time of the calling thread: a limit means the same on a loaded machine.
struct ThreadClock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<ThreadClock, duration>;
  static time_point now() noexcept;
};

/// When to give up. The thread that works is the one that made the deadline.
struct Limits {
  std::optional<ThreadClock::time_point> deadline;
  std::function<bool()> interrupted;
  bool reached() const;
  /// The same without asking `interrupted`, which may let other threads run.
  bool late() const;
};

}  // namespace xleak::facts
