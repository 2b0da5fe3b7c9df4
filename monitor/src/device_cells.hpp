#pragma once
#include <cstdint>
#include <string>

#include "xleak/monitor/smell.hpp"

namespace xleak::monitor {

/// The device of a session by its name; none where it has no such device.
const DeviceState* find_device(const SessionView& session, const std::string& name);

/// Whether a cell is the last that was given something on a device.
bool used_last(const DeviceState& device, std::optional<int> cell);

/// Bytes that a peak had beyond what was there before its cell, what was there after it, and
/// `steady_bytes`; 0 where not all is known.
std::int64_t passing_bytes(const DeviceState& device, std::int64_t steady_bytes);

/// Whether a need comes near to all that a device has, most of it for what passes.
bool is_mostly_passing(const DeviceState& device, std::int64_t needed_bytes,
                       std::int64_t passing_bytes);

/// "92 % of cuda:0"; the device must know its total.
std::string share_of(const DeviceState& device, std::int64_t bytes);

}  // namespace xleak::monitor
