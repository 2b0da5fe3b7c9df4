#pragma once
#include <deque>
#include <vector>

#include "xleak/monitor/cell_record.hpp"
#include "xleak/monitor/smell.hpp"

namespace xleak::monitor {

/// What a cell did to each device, from the framework's readings on both sides of it. No reading at
/// all before the cell means that the framework was not loaded: everything there came since.
std::vector<DeviceUse> device_use(const std::vector<DeviceReading>& before,
                                  const std::vector<DeviceReading>& after);

/// The devices after the last cell that ended; `records` oldest first.
std::vector<DeviceState> device_states(const std::deque<CellRecord>& records);

}  // namespace xleak::monitor
