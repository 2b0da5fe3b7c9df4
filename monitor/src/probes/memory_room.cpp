#include "probes/memory_room.hpp"

#include <algorithm>

#include "probes/ram.hpp"
#include "proc_file.hpp"

namespace xleak::monitor {

std::int64_t parse_memory_stat(std::string_view text, std::string_view key) {
  auto at = text.find(key);
  // A key counts only as the first word of a line: "total_inactive_file" holds another one.
  while (at != std::string_view::npos &&
         !((at == 0 || text[at - 1] == '\n') && text.substr(at + key.size(), 1) == " ")) {
    at = text.find(key, at + 1);
  }
  if (at == std::string_view::npos) return 0;
  return parse_cgroup_limit(text.substr(at + key.size() + 1)).value_or(0);
}

MemoryRoomProbe::MemoryRoomProbe() {
  for (const auto& limit : cgroup_limit_files(text_of("/proc/self/cgroup").value_or(""))) {
    const auto slash = limit.find_last_of('/');
    const auto folder = limit.substr(0, slash + 1);
    const bool second = limit.substr(slash + 1) == "memory.max";
    groups_.push_back({limit, folder + (second ? "memory.current" : "memory.usage_in_bytes"),
                       folder + "memory.stat", second ? "inactive_file" : "total_inactive_file"});
  }
}

std::optional<MemoryRoom> MemoryRoomProbe::room_of(const Group& group) noexcept {
  LargeProcBuffer buffer;
  const auto limit = parse_cgroup_limit(read_text(group.limit.c_str(), buffer));
  if (!limit) return std::nullopt;
  const auto used = parse_cgroup_limit(read_text(group.used.c_str(), buffer));
  if (!used) return std::nullopt;
  const auto cache = parse_memory_stat(read_text(group.stat.c_str(), buffer), group.cache_key);
  return MemoryRoom{*limit, std::clamp<std::int64_t>(*limit - *used + cache, 0, *limit), true};
}

std::optional<MemoryRoom> MemoryRoomProbe::read() const noexcept {
  LargeProcBuffer buffer;
  const auto meminfo = read_text("/proc/meminfo", buffer);
  const auto total = parse_meminfo_total(meminfo);
  const auto available = kib_field(meminfo, "MemAvailable:");
  std::optional<MemoryRoom> least;
  if (total && available) least = MemoryRoom{*total, *available, false};
  for (const Group& group : groups_) {
    const auto room = room_of(group);
    // Version 1 writes "none" as a number that no machine has.
    if (!room || (total && room->limit_bytes > *total)) continue;
    if (!least || room->available_bytes < least->available_bytes) least = room;
  }
  return least;
}

}  // namespace xleak::monitor
