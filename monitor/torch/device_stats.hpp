#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xleak::libtorch {

/// What the caching allocator of one accelerator says of one device. Sizes in bytes.
struct DeviceStats {
  std::string device;  ///< As torch writes it: "cuda:0".
  std::int64_t allocated_bytes = 0;
  std::int64_t allocated_peak_bytes = 0;  ///< Since the user's last reset of torch's own counter.
  std::int64_t reserved_bytes = 0;
  std::int64_t inactive_split_bytes = 0;  ///< Free, but in a segment that is partly in use.
  std::int64_t handed_out_bytes = 0;      ///< All that it ever handed out.
  std::int64_t retries = 0;               ///< Times the cache was emptied to serve a request.
  std::int64_t out_of_memory = 0;
};

/// Whether this torch (2.9 or later) has one way to ask every accelerator.
bool has_device_stats() noexcept;

/// One row for each device of the accelerators in use. Wakes none; empty where there is none.
std::vector<DeviceStats> device_stats();

/// The same in plain types, for monitor's xleak/monitor/device_reader.hpp.
std::size_t read_devices(char (*names)[16], std::int64_t* allocated_bytes,
                         std::int64_t* reserved_bytes, std::size_t most) noexcept;

}  // namespace xleak::libtorch
