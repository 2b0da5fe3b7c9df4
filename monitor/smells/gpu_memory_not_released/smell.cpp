// Blocks that torch's cache keeps on a device long after the tensors in them died.
#include "xleak/monitor/smell.hpp"

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::gpu_memory_not_released {
namespace {

// Less is what a session that goes on needs again in a moment.
constexpr std::int64_t kManyBytes = std::int64_t{256} << 20;
// A cell that draws or prints between two steps of a training gives nothing to judge.
constexpr int kIdleCells = 3;
// Where more of what is reserved is in use, the cache is at work.
constexpr double kLeftOver = 0.05;

// What empty_cache() gives back: segments that are wholly free.
std::int64_t cached_bytes(const DeviceState& device) {
  if (!device.allocated_bytes || !device.reserved_bytes || !device.inactive_split_bytes) return 0;
  return *device.reserved_bytes - *device.allocated_bytes - *device.inactive_split_bytes;
}

bool is_leak(const DeviceState& device) {
  const std::int64_t cached = cached_bytes(device);
  if (cached < kManyBytes || device.idle_cells < kIdleCells) return false;
  return static_cast<double>(*device.allocated_bytes) <=
         kLeftOver * static_cast<double>(*device.reserved_bytes);
}

Finding finding_of(const DeviceState& device, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.bytes = cached_bytes(device);
  finding.holders = {"torch's cache on " + device.device};
  finding.path = finding.holders;
  finding.message = "torch's cache keeps " + human(*finding.bytes) + " on " + device.device +
                    " though nearly all tensors there are gone and " +
                    std::to_string(device.idle_cells) +
                    " cells asked for none. No other process can have it. Give it back with "
                    "`%release_cache` or torch's empty_cache().";
  finding.fixes = {{"Empty the cache", "%release_cache"}};
  finding.key = "cache of " + device.device;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const DeviceState& device : session.devices) {
    if (is_leak(device)) findings.push_back(finding_of(device, session));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL601", "gpu_memory_not_released", Severity::note, at_run_time};

}  // namespace xleak::monitor::smells::gpu_memory_not_released
