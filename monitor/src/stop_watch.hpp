#pragma once
#include <cstddef>

#include "xleak/monitor/graph.hpp"

namespace xleak::monitor {

/// Asks a Stop once in many steps, since asking may cost more than a step.
class StopWatch {
 public:
  explicit StopWatch(const Stop& stop) : stop_(stop) {}

  /// True from the step on at which the answer was yes.
  bool step() {
    if (++steps_ % kStepsBetweenLooks == 0 && stop_ && stop_()) stopped_ = true;
    return stopped_;
  }

 private:
  // Some 100 microseconds of work.
  static constexpr std::size_t kStepsBetweenLooks = 8192;

  const Stop& stop_;
  std::size_t steps_ = 0;
  bool stopped_ = false;
};

}  // namespace xleak::monitor
