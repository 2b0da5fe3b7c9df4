#include "probes/other_processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "probes/limits.hpp"
#include "proc_file.hpp"

namespace xleak::monitor {
namespace {

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

int parent_in(std::string_view status) {
  constexpr std::string_view key = "\nPPid:\t";
  const auto at = status.find(key);
  return at == std::string_view::npos ? 0 : std::atoi(status.data() + at + key.size());
}

struct Running {
  OtherProcess process;
  int parent = 0;
};

std::map<int, Running> processes_of(const std::string& group) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folders(::opendir("/proc"), &::closedir);
  std::map<int, Running> found;
  while (const dirent* entry = folders ? ::readdir(folders.get()) : nullptr) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == ::getpid()) continue;
    const std::string folder = std::string("/proc/") + entry->d_name;
    const auto status = text_of(folder + "/status").value_or("");
    const auto memory = parse_status(status);
    if (!memory || !is_in_group(folder, group)) continue;
    found[pid] = {{pid, name_in(status), memory->held_bytes}, parent_in(status)};
  }
  return found;
}

bool descends_from(int ancestor, const Running& process, const std::map<int, Running>& all) {
  // Numbers are reused while they are read: no chain of parents is longer than this by right.
  int parent = process.parent;
  for (std::size_t steps = 0; parent != ancestor && steps <= all.size(); ++steps) {
    const auto above = all.find(parent);
    if (above == all.end()) return false;
    parent = above->second.parent;
  }
  return parent == ancestor;
}

}  // namespace

std::vector<OtherProcess> other_processes(const std::string& group) {
  const auto processes = processes_of(group);
  std::vector<OtherProcess> others, children;
  std::int64_t children_bytes = 0;
  for (const auto& [pid, running] : processes) {
    if (!descends_from(::getpid(), running, processes)) {
      others.push_back(running.process);
      continue;
    }
    // What a fork shares with its parent is the parent's.
    const auto text = text_of("/proc/" + std::to_string(pid) + "/smaps_rollup").value_or("");
    children.push_back(running.process);
    auto& held_bytes = children.back().held_bytes;
    held_bytes = parse_unshared(text).value_or(held_bytes);
    children_bytes += held_bytes;
  }
  for (OtherProcess& child : children) {
    child.children = static_cast<int>(children.size());
    child.children_bytes = children_bytes;
    others.push_back(std::move(child));
  }
  return others;
}

std::optional<std::int64_t> parse_unshared(std::string_view text) {
  // A page that only one process has and that is not as in its file, if it has one.
  const auto dirty = kib_field(text, "Private_Dirty:");
  const auto swapped = kib_field(text, "SwapPss:");
  return dirty && swapped ? std::optional(*dirty + *swapped) : std::nullopt;
}

}  // namespace xleak::monitor
