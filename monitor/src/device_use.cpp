#include "device_use.hpp"

#include <algorithm>

namespace xleak::monitor {
namespace {

const DeviceReading* find(const std::vector<DeviceReading>& readings, const std::string& device) {
  const auto at = std::find_if(readings.begin(), readings.end(),
                               [&](const DeviceReading& r) { return r.device == device; });
  return at == readings.end() ? nullptr : &*at;
}

DeviceUse use_between(const DeviceReading& before, const DeviceReading& after) {
  DeviceUse use{after.device, std::nullopt, std::nullopt, after.reserved_bytes};
  if (before.allocated_bytes && after.allocated_bytes) {
    use.allocated_kept_bytes = *after.allocated_bytes - *before.allocated_bytes;
  }
  if (before.peak_bytes && after.peak_bytes && *after.peak_bytes > *before.peak_bytes) {
    use.allocated_peak_bytes = after.peak_bytes;
  }
  return use;
}

}  // namespace

std::vector<DeviceUse> device_use(const std::vector<DeviceReading>& before,
                                  const std::vector<DeviceReading>& after) {
  std::vector<DeviceUse> uses;
  for (const DeviceReading& now : after) {
    const DeviceReading fresh{now.device, 0, 0, 0};
    const DeviceReading unknown{now.device, std::nullopt, std::nullopt, std::nullopt};
    const DeviceReading* known = find(before, now.device);
    if (known == nullptr) known = before.empty() ? &fresh : &unknown;
    uses.push_back(use_between(*known, now));
  }
  for (const DeviceReading& then : before) {
    if (find(after, then.device) == nullptr) uses.push_back({then.device, {}, {}, {}});
  }
  return uses;
}

}  // namespace xleak::monitor
