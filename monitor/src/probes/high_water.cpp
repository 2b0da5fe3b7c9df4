#include "probes/high_water.hpp"

namespace xleak::monitor {

std::optional<std::int64_t> parse_high_water(std::string_view text) {
  return kib_field(text, "VmHWM:");
}

HighWater::HighWater() : file_("/proc/self/status") {}

std::optional<std::int64_t> HighWater::read() const noexcept {
  try {
    ProcBuffer buffer;
    return parse_high_water(file_.read(buffer));
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace xleak::monitor
