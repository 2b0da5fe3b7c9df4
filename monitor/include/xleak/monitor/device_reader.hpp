#pragma once
#include <cstddef>
#include <cstdint>

namespace xleak::monitor {

/// Room for the longest name that torch gives a device, "privateuseone:0", and its end.
constexpr std::size_t kDeviceNameSize = 16;

/// Fills up to `most` rows with what the allocators of a framework say, and returns how many. Any
/// thread, without the GIL; wakes no device. Plain types alone: it crosses libraries whose
/// std::string differ.
using DeviceReader = std::size_t (*)(char (*names)[kDeviceNameSize], std::int64_t* allocated_bytes,
                                     std::int64_t* reserved_bytes, std::size_t most) noexcept;

/// The name of a capsule that holds one; another signature takes another name.
constexpr const char* kDeviceReaderCapsule = "xleak.device_reader.1";

}  // namespace xleak::monitor
