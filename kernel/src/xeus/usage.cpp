#include "usage.hpp"

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;
using Clock = std::chrono::steady_clock;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The number behind `key` in a text of "Key:   123 kB" lines, in bytes.
std::optional<std::int64_t> kib_line(const std::string& text, const std::string& key) {
  const auto at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::stoll(text.substr(at + key.size())) * 1024;
}

struct ProcessTimes {
  int parent = 0;
  std::int64_t ticks = 0;
};

// Fields 4, 14 and 15 of /proc/<pid>/stat, counted behind the name, which may hold any character.
std::optional<ProcessTimes> process_times(int pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  ProcessTimes result;
  std::int64_t user = 0, system = 0;
  fields >> skipped >> result.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  fields >> user >> system;
  result.ticks = user + system;
  return result;
}

std::map<int, ProcessTimes> kernel_and_children() {
  std::map<int, ProcessTimes> all;
  if (DIR* proc = ::opendir("/proc")) {
    while (const dirent* entry = ::readdir(proc)) {
      const int pid = std::atoi(entry->d_name);
      if (pid <= 0) continue;
      if (const auto times = process_times(pid)) all[pid] = *times;
    }
    ::closedir(proc);
  }
  std::map<int, ProcessTimes> family;
  for (const auto& [pid, times] : all) {
    for (int at = pid; at > 1 && all.count(at); at = all[at].parent) {
      if (at == ::getpid()) family[pid] = times;
    }
  }
  return family;
}

std::int64_t memory_bytes(int pid) {
  const std::string base = "/proc/" + std::to_string(pid);
  if (const auto pss = kib_line(read_file(base + "/smaps_rollup"), "\nPss:")) return *pss;
  return kib_line(read_file(base + "/status"), "\nVmRSS:").value_or(0);
}

struct CpuMark {
  Clock::time_point at;
  std::map<int, ProcessTimes> family;
  std::int64_t host_busy = 0;
  std::int64_t host_total = 0;
};

CpuMark cpu_mark() {
  CpuMark mark{Clock::now(), kernel_and_children()};
  std::istringstream fields(read_file("/proc/stat"));
  std::string name;
  fields >> name;
  std::int64_t ticks = 0;
  // user nice system idle iowait irq softirq steal; guest time is in user already.
  for (int field = 0; field < 8 && fields >> ticks; ++field) {
    mark.host_total += ticks;
    if (field != 3 && field != 4) mark.host_busy += ticks;
  }
  return mark;
}

double kernel_cpu_percent(const CpuMark& last, const CpuMark& now) {
  std::int64_t ticks = 0;
  for (const auto& [pid, times] : now.family) {
    const auto before = last.family.find(pid);
    if (before != last.family.end()) ticks += times.ticks - before->second.ticks;
  }
  const double seconds = std::chrono::duration<double>(now.at - last.at).count();
  return seconds > 0 ? 100.0 * static_cast<double>(ticks) /
                           static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds
                     : 0.0;
}

nl::json host_memory() {
  const std::string text = "\n" + read_file("/proc/meminfo");
  const auto total = kib_line(text, "\nMemTotal:").value_or(0);
  const auto available = kib_line(text, "\nMemAvailable:").value_or(0);
  nl::json result = {{"total", total},
                     {"available", available},
                     {"free", kib_line(text, "\nMemFree:").value_or(0)},
                     {"used", total - available},
                     {"percent", total > 0 ? 100.0 * static_cast<double>(total - available) /
                                                 static_cast<double>(total)
                                           : 0.0}};
  for (const auto& [field, key] : {std::pair{"active", "\nActive:"},
                                   {"inactive", "\nInactive:"},
                                   {"buffers", "\nBuffers:"},
                                   {"cached", "\nCached:"},
                                   {"shared", "\nShmem:"},
                                   {"slab", "\nSlab:"}}) {
    result[field] = kib_line(text, key).value_or(0);
  }
  return result;
}

}  // namespace

nl::json usage_reply() {
  // Only the control thread comes here. The first time there is nothing to compare with: 0 percent.
  static std::optional<CpuMark> last;
  const CpuMark now = cpu_mark();
  std::int64_t memory = 0;
  for (const auto& [pid, times] : now.family) memory += memory_bytes(pid);
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  nl::json reply = {{"status", "ok"},
                    {"hostname", host.data()},
                    {"pid", ::getpid()},
                    {"kernel_cpu", last ? kernel_cpu_percent(*last, now) : 0.0},
                    {"kernel_memory", memory},
                    {"cpu_count", std::thread::hardware_concurrency()},
                    {"host_virtual_memory", host_memory()}};
  if (last && now.host_total > last->host_total) {
    reply["host_cpu_percent"] = 100.0 * static_cast<double>(now.host_busy - last->host_busy) /
                                static_cast<double>(now.host_total - last->host_total);
  }
  last = now;
  return reply;
}

}  // namespace xleak::kernel
