#pragma once
#include <vector>

#include "xleak/monitor/cell_record.hpp"

namespace xleak::monitor {

/// What a cell did to each device, from the framework's readings on both sides of it. No reading at
/// all before the cell means that the framework was not loaded: everything there came since.
std::vector<DeviceUse> device_use(const std::vector<DeviceReading>& before,
                                  const std::vector<DeviceReading>& after);

}  // namespace xleak::monitor
