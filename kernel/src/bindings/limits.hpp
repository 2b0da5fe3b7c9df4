#pragma once
#include <chrono>
#include <functional>
#include <optional>

#include "facts/closure.hpp"

namespace xleak::bindings {

using Interrupted = std::optional<std::function<bool()>>;

inline facts::Limits limits_of(std::optional<double> milliseconds, const Interrupted& interrupted) {
  facts::Limits limits;
  if (milliseconds) {
    const std::chrono::duration<double, std::milli> time(*milliseconds);
    limits.deadline =
        facts::Clock::now() + std::chrono::duration_cast<facts::Clock::duration>(time);
  }
  if (interrupted) limits.interrupted = *interrupted;
  return limits;
}

}  // namespace xleak::bindings
