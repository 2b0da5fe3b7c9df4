#pragma once
#include <Python.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reference.hpp"

namespace xleak::facts {

/// Where the time of a running cell goes, by samples: the lines of the user's that the main thread
/// is in, with what they call, when Python next looks up from its bytecode. That is after a call,
/// so an operator's time counts for the next call.
class LineTimes {
 public:
  struct Line {
    std::string file;
    int line;
    double seconds;
  };

  /// Never destroyed: Python may still owe it a sample while the process exits.
  static LineTimes& instance();

  /// The user's code is what has these globals. The GIL must be held, here and below.
  void follow(PyObject* globals) { globals_ = Reference::share(globals); }
  /// A moment has passed; by any thread, which needs no GIL.
  void beat() noexcept;
  /// A cell begins, and nothing is known of it.
  void begin();
  /// What is known of it, and all seconds together, those outside of the user's code included.
  std::pair<std::vector<Line>, double> times() const;

 private:
  using Clock = std::chrono::steady_clock;

  static int sample(void* self);
  void count(double seconds);

  Reference globals_;
  std::atomic<bool> asked_{false};
  Clock::time_point last_;
  std::map<std::pair<std::string, int>, double> seconds_;
  double all_seconds_ = 0.0;
};

}  // namespace xleak::facts
