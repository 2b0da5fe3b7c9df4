#include "xleak/monitor/bytes.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace xleak::monitor {
namespace {

constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

// Three digits tell sizes apart; more only make them harder to compare by eye.
double rounded(double value) {
  return value < 100 ? std::round(value * 10) / 10 : std::round(value);
}

}  // namespace

std::string human(std::int64_t bytes) {
  double value = std::abs(static_cast<double>(bytes));
  std::size_t unit = 0;
  // What rounds up to 1024 belongs to the next unit.
  while (rounded(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  value = rounded(value);
  const int decimals = value == std::floor(value) ? 0 : 1;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%s%.*f %s", bytes < 0 ? "-" : "", decimals, value,
                kUnits.at(unit));
  return text.data();
}

}  // namespace xleak::monitor
