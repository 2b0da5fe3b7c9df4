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
  DeviceUse use{after.device,         std::nullopt,          std::nullopt,
                after.reserved_bytes, after.allocated_bytes, after.inactive_split_bytes};
  if (before.handed_out_bytes && after.handed_out_bytes) {
    use.handed_out_bytes = *after.handed_out_bytes - *before.handed_out_bytes;
  }
  if (before.allocated_bytes && after.allocated_bytes) {
    use.allocated_kept_bytes = *after.allocated_bytes - *before.allocated_bytes;
  }
  const bool rose = before.peak_bytes && after.peak_bytes && *after.peak_bytes > *before.peak_bytes;
  use.allocated_peak_bytes = after.cell_peak_bytes;
  if (rose && !use.allocated_peak_bytes) use.allocated_peak_bytes = after.peak_bytes;
  use.total_bytes = after.total_bytes;
  return use;
}

const DeviceUse* find(const CellRecord& record, const std::string& device) {
  const auto use = std::find_if(record.devices.begin(), record.devices.end(),
                                [&](const DeviceUse& it) { return it.device == device; });
  return use == record.devices.end() ? nullptr : &*use;
}

bool was_idle(const CellRecord& record, const std::string& device) {
  const DeviceUse* use = find(record, device);
  return use != nullptr && use->handed_out_bytes == 0;
}

// Where the framework counts no sum of what it handed out, a mark that rose or another size says
// so.
bool was_used(const DeviceUse& use) {
  if (use.handed_out_bytes) return *use.handed_out_bytes > 0;
  return use.allocated_peak_bytes || use.allocated_kept_bytes.value_or(0) != 0;
}

std::optional<DeviceCell> cell_of(const CellRecord& record, const std::string& device) {
  const DeviceUse* use = find(record, device);
  if (record.status == CellStatus::running || use == nullptr || !was_used(*use)) {
    return std::nullopt;
  }
  DeviceCell cell{record.index, std::nullopt, use->allocated_peak_bytes, use->allocated_bytes};
  if (use->allocated_bytes && use->allocated_kept_bytes) {
    cell.before_bytes = *use->allocated_bytes - *use->allocated_kept_bytes;
  }
  return cell;
}

}  // namespace

std::vector<DeviceUse> device_use(const std::vector<DeviceReading>& before,
                                  const std::vector<DeviceReading>& after) {
  std::vector<DeviceUse> uses;
  for (const DeviceReading& now : after) {
    const DeviceReading fresh{now.device, 0, 0, 0, 0, 0};
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

std::vector<DeviceState> device_states(const std::deque<CellRecord>& records) {
  auto at = records.rbegin();
  while (at != records.rend() && at->status == CellStatus::running) ++at;
  std::vector<DeviceState> states;
  if (at == records.rend()) return states;
  for (const DeviceUse& use : at->devices) {
    DeviceState state{use.device, use.allocated_bytes, use.reserved_bytes,
                      use.inactive_split_bytes};
    for (auto before = at; before != records.rend() && was_idle(*before, use.device); ++before)
      if (!before->is_own) ++state.idle_cells;
    state.total_bytes = use.total_bytes;
    for (auto before = at; before != records.rend() && !state.last_used; ++before)
      state.last_used = cell_of(*before, use.device);
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace xleak::monitor
