#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <optional>

#include "facts/limits.hpp"
#include "pybind11/pybind11.h"

namespace xleak::bindings {

using Interrupted = std::optional<std::function<bool()>>;

inline facts::Limits limits_of(std::optional<double> milliseconds) {
  facts::Limits limits;
  if (milliseconds) {
    const std::chrono::duration<double, std::milli> time(*milliseconds);
    limits.deadline =
        facts::ThreadClock::now() + std::chrono::duration_cast<facts::ThreadClock::duration>(time);
  }
  return limits;
}

/// Limits of native work that asks Python between two steps. What Python raises there (a signal
/// handler of the user's, say) ends the work in good order.
class AskedLimits {
 public:
  AskedLimits(std::optional<double> milliseconds, const Interrupted& interrupted)
      : limits_(limits_of(milliseconds)) {
    if (interrupted) limits_.interrupted = [this, &interrupted] { return ask(*interrupted); };
  }
  AskedLimits(const AskedLimits&) = delete;
  AskedLimits& operator=(const AskedLimits&) = delete;

  const facts::Limits& limits() const { return limits_; }

  /// To be called after the work: raises what Python raised.
  void raise() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  bool ask(const std::function<bool()>& interrupted) {
    try {
      return raised_ || interrupted();
    } catch (const pybind11::error_already_set&) {
      raised_ = std::current_exception();
      return true;
    }
  }

  facts::Limits limits_;
  std::exception_ptr raised_;
};

}  // namespace xleak::bindings
