#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xleak::monitor {

/// The tightest limit on the memory of this process, and what is left below it.
struct MemoryRoom {
  std::int64_t limit_bytes = 0;
  std::int64_t available_bytes = 0;
  bool limit_is_group = false;
};

/// A line "key 12" of memory.stat; 0 where there is none.
std::int64_t parse_memory_stat(std::string_view text, std::string_view key);

/// Reads it anew on demand, from any thread, and allocates nothing then. The control group is the
/// one that the process was in at first.
class MemoryRoomProbe {
 public:
  MemoryRoomProbe();
  /// Of the control groups and the machine, the one with the least left. Page cache that the system
  /// would give up counts as left. Empty where nothing can be read.
  std::optional<MemoryRoom> read() const noexcept;

 private:
  struct Group {
    std::string limit, used, stat;  ///< Files.
    std::string_view cache_key;
  };
  static std::optional<MemoryRoom> room_of(const Group& group) noexcept;

  std::vector<Group> groups_;
};

}  // namespace xleak::monitor
