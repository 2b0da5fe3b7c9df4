#include "probes/limits.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
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

bool is_in_group(const std::string& process, const std::string& group) {
  if (group.empty()) return true;
  const auto text = text_of(process + "/cgroup").value_or("");
  for (auto at = text.find(group); at != std::string::npos; at = text.find(group, at + 1)) {
    const char next = at + group.size() < text.size() ? text[at + group.size()] : '\n';
    if (at > 0 && text[at - 1] == ':' && (next == '\n' || next == '/')) return true;
  }
  return false;
}

std::string name_in(std::string_view status) {
  constexpr std::string_view key = "Name:\t";
  if (status.substr(0, key.size()) != key) return "?";
  std::string name(status.substr(key.size(), status.find('\n') - key.size()));
  // Whoever started it chose it.
  for (char& c : name) {
    if (c < ' ' || c > '~' || c == '`') c = '?';
  }
  return name;
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
      return find_largest(reading.group);
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

  static std::optional<OtherProcess> find_largest(const std::string& group) {
    const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), &::closedir);
    std::optional<OtherProcess> largest;
    while (const dirent* entry = processes ? ::readdir(processes.get()) : nullptr) {
      const int pid = std::atoi(entry->d_name);
      if (pid <= 0 || pid == ::getpid()) continue;
      const std::string folder = std::string("/proc/") + entry->d_name;
      const auto status = text_of(folder + "/status").value_or("");
      const auto memory = parse_status(status);
      if (!memory || (largest && memory->held_bytes <= largest->held_bytes)) continue;
      if (is_in_group(folder, group))
        largest = OtherProcess{pid, name_in(status), memory->held_bytes};
    }
    return largest;
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
  for (const auto& group : groups_) {
    auto read = group->read(swap_free_bytes);
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

std::unique_ptr<GuardProbes> live_guard_probes(
    std::function<std::vector<DeviceReading>()> devices) {
  try {
    return std::make_unique<LiveGuardProbes>(std::move(devices));
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace xleak::monitor
