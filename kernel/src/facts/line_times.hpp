#pragma once
#include <Python.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "reference.hpp"

namespace xleak::facts {

/// Where the time of a running cell goes, by samples: the lines of the user's that its thread is
/// in, with what they call. A thread of its own takes them: it waits for the GIL as any thread of
/// Python's does, so a sample comes where Python changes threads.
class LineTimes {
 public:
  struct Line {
    std::string file;
    int line;
    double seconds;
  };

  /// Never destroyed: its thread may still wait while the process exits.
  static LineTimes& instance();

  /// The user's code is what has these globals. The GIL must be held, here and below.
  void follow(PyObject* globals) { globals_ = Reference::share(globals); }
  /// Calls `hook` while a cell runs, every so many seconds, between two instructions of the user's
  /// code, which gets what it raises.
  void call(PyObject* hook, double every_seconds);
  /// A moment has passed; by a thread that takes no signals, without the GIL.
  void beat() noexcept;
  /// A cell begins on this thread, and nothing is known of it.
  void begin();
  /// What is known of it, and all seconds together, those outside of the user's code included.
  std::pair<std::vector<Line>, double> times() const;

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void sample();
  bool thread_is_there() const;
  static int call_hook(void* self);

  std::thread sampler_;
  std::mutex mutex_;
  std::condition_variable beaten_;
  bool has_beat_ = false;

  Reference globals_;
  PyThreadState* thread_ = nullptr;  ///< The cell's.
  Clock::time_point last_;
  Reference hook_;
  Clock::duration between_calls_{};
  Clock::time_point last_call_;
  std::map<std::pair<std::string, int>, double> seconds_;
  double all_seconds_ = 0.0;
};

}  // namespace xleak::facts
