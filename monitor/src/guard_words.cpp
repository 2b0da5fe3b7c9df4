// What the guard says: what is used of which limit, who has it, what follows.
#include "guard_levels.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor {
namespace {

// Less is the noise of any cell.
constexpr std::int64_t kWorthSayingBytes = 1 << 20;

const char* what_follows(const LimitReading& it) {
  switch (it.limit) {
    case GuardLimit::cgroup:
    case GuardLimit::machine:
      return " When it is full, the operating system kills a process, and this one may be it.";
    case GuardLimit::address_space:
    case GuardLimit::data:
      return " Beyond it allocations fail.";
    case GuardLimit::device:
      return " Beyond it the framework raises its out-of-memory error.";
  }
  return "";
}

std::string in_words(const OtherProcess& other) {
  std::string text = "`" + other.name + "` (pid " + std::to_string(other.pid) + ") with " +
                     human(other.held_bytes);
  if (other.children == 1) text += ", a child process of this one";
  if (other.children > 1) {
    text += ", one of " + std::to_string(other.children) +
            " child processes of this one, which hold " + human(other.children_bytes);
  }
  return text;
}

}  // namespace

std::string used_of_limit(const LimitReading& it) {
  const auto used = human(it.used_bytes), limit = human(it.limit_bytes);
  switch (it.limit) {
    case GuardLimit::cgroup:
      return used + " of the " + limit + " that this process's cgroup allows are in use";
    case GuardLimit::address_space:
      return used + " of the " + limit + " of address space that RLIMIT_AS allows are taken";
    case GuardLimit::data:
      return used + " of the " + limit + " that RLIMIT_DATA allows are taken";
    case GuardLimit::machine:
      return used + " of the machine's " + limit + " are in use";
    case GuardLimit::device:
      return used + " of the " + limit + " of " + it.device + " are allocated";
  }
  return {};
}

std::string sentence_of(const LimitReading& reading, GuardLevel level,
                        std::optional<std::int64_t> grown_bytes,
                        const std::optional<OtherProcess>& other) {
  if (level == GuardLevel::normal) return "There is memory again: " + used_of_limit(reading) + ".";
  const bool critical = level == GuardLevel::critical;
  std::string text = (critical ? "Memory is nearly out: " : "Memory gets short: ");
  text += used_of_limit(reading);
  if (grown_bytes && *grown_bytes >= kWorthSayingBytes) {
    text += "; this cell has grown by " + human(*grown_bytes);
  }
  text += ".";
  if (others_bytes(reading) > reading.own_bytes) {
    text += " " + human(others_bytes(reading)) + " of it are not this process's; ";
    text += other ? "the largest other process is " + in_words(*other) + "."
                  : "no other process can be seen from here.";
  }
  return critical ? text + what_follows(reading) : text;
}

const char* name_of(GuardLevel level) {
  switch (level) {
    case GuardLevel::normal:
      return "normal";
    case GuardLevel::warning:
      return "warning";
    case GuardLevel::critical:
      return "critical";
  }
  return "normal";
}

const char* name_of(GuardLimit limit) {
  switch (limit) {
    case GuardLimit::cgroup:
      return "cgroup";
    case GuardLimit::address_space:
    case GuardLimit::data:
      return "address_space";
    case GuardLimit::machine:
      return "machine";
    case GuardLimit::device:
      return "device";
  }
  return "machine";
}

}  // namespace xleak::monitor
