#include "device_cells.hpp"

#include <algorithm>

namespace xleak::monitor {
namespace {

// The next batch that is a little larger, or the next fragment, ends the cell.
constexpr double kNearlyAll = 0.9;
// The rest are weights and data, which a smaller batch leaves as they are.
constexpr double kMostOfIt = 0.6;

}  // namespace

const DeviceState* find_device(const SessionView& session, const std::string& name) {
  const auto at = std::find_if(session.devices.begin(), session.devices.end(),
                               [&](const DeviceState& it) { return it.device == name; });
  return at == session.devices.end() ? nullptr : &*at;
}

bool used_last(const DeviceState& device, std::optional<int> cell) {
  return device.last_used && cell && device.last_used->cell == *cell;
}

std::int64_t passing_bytes(const DeviceState& device, std::int64_t steady_bytes) {
  if (!device.last_used) return 0;
  const auto& [cell, before, peak, after] = *device.last_used;
  if (!before || !peak || !after) return 0;
  return *peak - std::max({*before, *after, steady_bytes});
}

bool is_mostly_passing(const DeviceState& device, std::int64_t needed_bytes,
                       std::int64_t passing_bytes) {
  if (!device.total_bytes || *device.total_bytes <= 0) return false;
  const auto needed = static_cast<double>(needed_bytes);
  return needed >= kNearlyAll * static_cast<double>(*device.total_bytes) &&
         static_cast<double>(passing_bytes) >= kMostOfIt * needed;
}

std::string share_of(const DeviceState& device, std::int64_t bytes) {
  const auto share = 100.0 * static_cast<double>(bytes) / static_cast<double>(*device.total_bytes);
  return std::to_string(static_cast<int>(share)) + " % of " + device.device;
}

}  // namespace xleak::monitor
