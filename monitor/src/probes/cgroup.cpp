#include "probes/cgroup.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "probes/ram.hpp"

namespace xleak::monitor {
namespace {

constexpr const char* kMountV1 = "/sys/fs/cgroup/memory";
constexpr const char* kMountV2 = "/sys/fs/cgroup";
// Version 1 writes a number near 2^63 where there is no limit; no machine has this much.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

std::optional<std::int64_t> as_limit(std::string_view text) {
  const auto number = parse_cgroup_limit(text);
  return number && *number < kNoLimit ? number : std::nullopt;
}

std::optional<std::int64_t> number_in(const std::string& file) {
  return as_limit(text_of(file).value_or(""));
}

bool is_of_v2(const std::string& limit_file) {
  return limit_file.compare(limit_file.find_last_of('/'), std::string::npos, "/memory.max") == 0;
}

}  // namespace

Cgroup::Cgroup(std::string limit_file, const std::string& mount)
    : limit_file_(std::move(limit_file)),
      limit_(limit_file_.c_str()),
      is_v2_(is_of_v2(limit_file_)),
      folder_(limit_file_.substr(0, limit_file_.find_last_of('/'))),
      path_(folder_.substr(mount.size())) {}

// See Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of the kernel's sources.
// memory.high is no limit here: who passes it is slowed down and never killed.
std::optional<LimitReading> Cgroup::read(std::int64_t swap_left_bytes) const {
  ProcBuffer buffer;
  const auto limit = as_limit(limit_.read(buffer));
  if (!limit) return std::nullopt;
  const auto stat = text_of(folder_ + "/memory.stat").value_or("");
  std::optional<std::int64_t> used;
  std::int64_t swapped = 0;
  if (is_v2_) {
    swapped = number_in(folder_ + "/memory.swap.current").value_or(0);
    const auto current = number_in(folder_ + "/memory.current");
    if (current) used = unreclaimable_v2(stat, *current);
  } else {
    swapped = stat_field(stat, "total_swap").value_or(0);
    used = unreclaimable_v1(stat);
  }
  if (!used) return std::nullopt;
  auto most = *limit + swapped + swap_left_bytes;
  if (!is_v2_)
    most = std::min(most, number_in(folder_ + "/memory.memsw.limit_in_bytes").value_or(most));
  return LimitReading{GuardLimit::cgroup, "host", *used + swapped, most, 0, path_};
}

std::int64_t Cgroup::swap_left(std::int64_t left_above_bytes) const {
  if (!is_v2_) return left_above_bytes;
  const auto text = text_of(folder_ + "/memory.swap.max");
  if (!text || text->rfind("max", 0) == 0) return left_above_bytes;
  const auto taken = number_in(folder_ + "/memory.swap.current").value_or(0);
  const auto left = parse_cgroup_limit(*text).value_or(0) - taken;
  return std::clamp<std::int64_t>(left, 0, left_above_bytes);
}

std::vector<std::unique_ptr<Cgroup>> cgroups_of_this_process() {
  std::vector<std::unique_ptr<Cgroup>> groups;
  for (const auto& file : cgroup_limit_files(text_of("/proc/self/cgroup").value_or(""))) {
    // A container sees only some of them.
    if (::access(file.c_str(), R_OK) != 0) continue;
    groups.push_back(std::make_unique<Cgroup>(file, is_of_v2(file) ? kMountV2 : kMountV1));
  }
  return groups;
}

std::optional<std::int64_t> stat_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ' ') {
      const std::string digits(line.substr(key.size() + 1));
      return std::strtoll(digits.c_str(), nullptr, 10);
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

std::optional<std::int64_t> unreclaimable_v1(std::string_view stat) {
  const auto anonymous = stat_field(stat, "total_rss");
  if (!anonymous) return std::nullopt;
  return *anonymous + stat_field(stat, "total_shmem").value_or(0);
}

std::optional<std::int64_t> unreclaimable_v2(std::string_view stat, std::int64_t current_bytes) {
  const auto inactive = stat_field(stat, "inactive_file");
  const auto active = stat_field(stat, "active_file");
  if (!inactive || !active) return std::nullopt;
  const auto slab = stat_field(stat, "slab_reclaimable").value_or(0);
  return std::max<std::int64_t>(0, current_bytes - *inactive - *active - slab);
}

}  // namespace xleak::monitor
