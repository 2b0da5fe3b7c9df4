#include "probes/oom_kills.hpp"

#include <charconv>

#include "affix.hpp"
#include "probes/ram.hpp"
#include "proc_file.hpp"

namespace xleak::monitor {
namespace {

constexpr std::string_view kRoot = "/sys/fs/cgroup/";
// The first counts this group alone (Linux 5.2), the second what lies below it as well; the third
// is of version 1.
constexpr std::string_view kNames[] = {"/memory.events.local", "/memory.events",
                                       "/memory.oom_control"};

}  // namespace

std::optional<std::int64_t> parse_oom_kills(std::string_view text) {
  constexpr std::string_view kKey = "oom_kill ";
  auto at = text.find(kKey);
  // A key counts only at the start of a line: "group_oom_kill" is another one.
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') {
    at = text.find(kKey, at + 1);
  }
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t count = 0;
  const char* const digits = text.data() + at + kKey.size();
  const auto status = std::from_chars(digits, text.data() + text.size(), count).ec;
  if (status != std::errc{} || count < 0) return std::nullopt;
  return count;
}

std::string group_kills_file() {
  for (const auto& limit : cgroup_limit_files(text_of("/proc/self/cgroup").value_or(""))) {
    const auto group = limit.substr(0, limit.find_last_of('/'));
    for (const auto name : kNames) {
      auto file = group + std::string(name);
      if (parse_oom_kills(text_of(file).value_or(""))) return file;
    }
  }
  return {};
}

bool is_group_kills_file(std::string_view path) {
  if (path.substr(0, kRoot.size()) != kRoot || path.find("/../") != std::string_view::npos) {
    return false;
  }
  for (const auto name : kNames) {
    if (ends_with(path, name)) return true;
  }
  return false;
}

OomKills oom_kills(const std::string& group_file) noexcept {
  OomKills kills;
  LargeProcBuffer buffer;
  if (is_group_kills_file(group_file)) {
    kills.group = parse_oom_kills(read_text(group_file.c_str(), buffer));
  }
  kills.machine = parse_oom_kills(read_text("/proc/vmstat", buffer));
  return kills;
}

}  // namespace xleak::monitor
