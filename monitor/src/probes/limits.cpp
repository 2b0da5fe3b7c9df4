#include "probes/limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "probes/ram.hpp"
#include "proc_file.hpp"

namespace xleak::monitor {
namespace {

std::optional<LimitReading> read_rlimit(int resource, GuardLimit limit, std::int64_t used) {
  rlimit found{};
  const auto which = static_cast<__rlimit_resource>(resource);
  if (::getrlimit(which, &found) != 0 || found.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return LimitReading{limit, "host", used, static_cast<std::int64_t>(found.rlim_cur), used, {}};
}

bool has_less_left(const LimitReading& a, const LimitReading& b) {
  return a.limit_bytes - a.used_bytes < b.limit_bytes - b.used_bytes;
}

bool holds_less(const OtherProcess& a, const OtherProcess& b) {
  return a.held_bytes < b.held_bytes;
}

class LiveGuardProbes final : public GuardProbes {
 public:
  explicit LiveGuardProbes(std::function<std::vector<DeviceReading>()> devices)
      : devices_(std::move(devices)) {}

  std::optional<OwnMemory> own() noexcept override {
    try {
      ProcBuffer buffer;
      return parse_status(status_.read(buffer));
    } catch (...) {
      return std::nullopt;
    }
  }

  std::vector<LimitReading> limits() noexcept override {
    try {
      return read_limits();
    } catch (...) {
      return {};
    }
  }

  std::vector<DeviceReading> devices() noexcept override {
    try {
      return devices_();
    } catch (...) {
      return {};
    }
  }

  std::optional<OtherProcess> largest_other(const LimitReading& reading) noexcept override {
    try {
      const auto others = other_processes(reading.group);
      const auto largest = std::max_element(others.begin(), others.end(), holds_less);
      return largest == others.end() ? std::nullopt : std::optional(*largest);
    } catch (...) {
      return std::nullopt;
    }
  }

  double seconds() noexcept override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  std::vector<LimitReading> read_limits() {
    std::vector<LimitReading> found;
    const auto mine = own();
    if (!mine) return found;
    found = shared_.read();
    for (LimitReading& reading : found) reading.own_bytes = mine->held_bytes;
    const auto space = read_rlimit(RLIMIT_AS, GuardLimit::address_space, mine->size_bytes);
    const auto data = read_rlimit(RLIMIT_DATA, GuardLimit::data, mine->data_bytes);
    if (space) found.push_back(*space);
    if (data) found.push_back(*data);
    return found;
  }

  std::function<std::vector<DeviceReading>()> devices_;
  SharedLimits shared_;
  ProcFile status_{"/proc/self/status"};
};

}  // namespace

SharedLimits::SharedLimits() = default;

std::vector<LimitReading> SharedLimits::read() const {
  std::vector<LimitReading> found;
  ProcBuffer buffer;
  const auto meminfo = meminfo_.read(buffer);
  const auto swap_free = kib_field(meminfo, "SwapFree:").value_or(0);
  if (auto group = tightest_group(swap_free)) found.push_back(*std::move(group));
  if (auto machine = parse_meminfo(meminfo)) found.push_back(*std::move(machine));
  return found;
}

std::optional<LimitReading> SharedLimits::tightest() const noexcept {
  try {
    const auto found = read();
    const auto least = std::min_element(found.begin(), found.end(), has_less_left);
    return least == found.end() ? std::nullopt : std::optional(*least);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<LimitReading> SharedLimits::tightest_group(std::int64_t swap_free_bytes) const {
  std::optional<LimitReading> tightest;
  // From the top: what a group may swap out, those below it share.
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    swap_free_bytes = (*group)->swap_left(swap_free_bytes);
    auto read = (*group)->read(swap_free_bytes);
    if (read && (!tightest || has_less_left(*read, *tightest))) tightest = std::move(read);
  }
  return tightest;
}

std::optional<OwnMemory> parse_status(std::string_view text) {
  const auto resident = kib_field(text, "VmRSS:");
  const auto anonymous = kib_field(text, "RssAnon:");
  const auto shared = kib_field(text, "RssShmem:");
  const auto size = kib_field(text, "VmSize:");
  const auto data = kib_field(text, "VmData:");
  if (!resident || !anonymous || !shared || !size || !data) return std::nullopt;
  // A kernel without swap has no such line.
  const auto swapped = kib_field(text, "VmSwap:").value_or(0);
  return OwnMemory{*resident, *anonymous + *shared + swapped, *size, *data};
}

std::optional<LimitReading> parse_meminfo(std::string_view text) {
  const auto total = parse_meminfo_total(text);
  const auto available = kib_field(text, "MemAvailable:");
  if (!total || !available) return std::nullopt;
  const auto swap_total = kib_field(text, "SwapTotal:").value_or(0);
  const auto swap_free = kib_field(text, "SwapFree:").value_or(0);
  return LimitReading{GuardLimit::machine, "host", *total - *available + swap_total - swap_free,
                      *total + swap_total, 0,      {}};
}

std::vector<LimitReading> read_host_limits() noexcept {
  const auto probes = live_guard_probes(nullptr);
  return probes ? probes->limits() : std::vector<LimitReading>();
}

std::unique_ptr<GuardProbes> live_guard_probes(
    std::function<std::vector<DeviceReading>()> devices) {
  try {
    return std::make_unique<LiveGuardProbes>(std::move(devices));
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace xleak::monitor
