#include "probes/ram.hpp"

#include <algorithm>
#include <charconv>

#include "proc_file.hpp"
#include "xleak/monitor/error.hpp"
#include "xleak/monitor/machine.hpp"

namespace xleak::monitor {
namespace {

void append_group_and_above(std::vector<std::string>& files, const std::string& mount,
                            std::string group, const std::string& file) {
  while (group.size() > 1) {
    files.push_back(mount + group + "/" + file);
    group.erase(group.find_last_of('/'));
  }
  files.push_back(mount + "/" + file);
}

// A line is "id:controllers:path"; version 2 has the id 0 and no controllers (cgroups(7)).
void append_files_of_line(std::vector<std::string>& files, std::string_view line) {
  const auto first = line.find(':');
  const auto second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return;
  const auto controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
  const std::string group(line.substr(second + 1));
  if (group.empty() || group.front() != '/') return;
  if (controllers == ",,") append_group_and_above(files, "/sys/fs/cgroup", group, "memory.max");
  if (controllers.find(",memory,") != std::string::npos) {
    append_group_and_above(files, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
  }
}

}  // namespace

std::optional<std::int64_t> parse_meminfo_total(std::string_view text) {
  return kib_field(text, "MemTotal:");
}

std::optional<std::int64_t> parse_cgroup_limit(std::string_view text) {
  std::int64_t bytes = 0;
  const auto status = std::from_chars(text.data(), text.data() + text.size(), bytes).ec;
  if (status != std::errc{} || bytes <= 0) return std::nullopt;
  return bytes;
}

std::vector<std::string> cgroup_limit_files(std::string_view text) {
  std::vector<std::string> files;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    append_files_of_line(files, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return files;
}

std::int64_t ram_bytes() {
  const auto total = parse_meminfo_total(text_of("/proc/meminfo").value_or(""));
  if (!total)
    throw Error("cannot read MemTotal of /proc/meminfo: the machine's memory is unknown.");
  std::int64_t least = *total;
  for (const auto& file : cgroup_limit_files(text_of("/proc/self/cgroup").value_or(""))) {
    if (const auto limit = parse_cgroup_limit(text_of(file).value_or(""))) {
      least = std::min(least, *limit);
    }
  }
  return least;
}

}  // namespace xleak::monitor
