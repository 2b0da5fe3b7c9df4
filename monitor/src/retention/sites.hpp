#pragma once
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "xleak/monitor/large_blocks.hpp"

namespace xleak::monitor {

/// Places in the user's program, by their text. They are kept until the process ends: a block names
/// its place by a number. To look one up takes no lock; one thread at a time adds.
class SiteTable {
 public:
  /// An index fits 16 bits of an entry of the ledger.
  static constexpr std::size_t kCapacity = (1u << 16) - 1;
  static constexpr std::size_t kFileBytes = 216;
  static constexpr std::size_t kFunctionBytes = 56;

  /// See intern_site().
  SiteIndex intern(const SiteText& text) noexcept;
  /// See site_at().
  std::optional<Site> at(SiteIndex index) const;

 private:
  struct Entry {
    std::array<char, kFileBytes> file;
    std::array<char, kFunctionBytes> function;
    std::int32_t line;
    std::uint32_t hash;
  };
  // Twice as many as sites, so that a search ends after a few.
  static constexpr std::size_t kSlots = (kCapacity + 1) * 2;

  struct Found {
    std::size_t slot;
    SiteIndex index;
  };

  static Entry entry_of(const SiteText& text) noexcept;
  Found find(const Entry& wanted) const noexcept;
  bool lock() noexcept;
  SiteIndex add(const Entry& entry) noexcept;

  // All zero at the start: the pages that nobody has written to cost nothing.
  std::array<Entry, kCapacity + 1> entries_{};
  std::array<std::atomic<std::uint16_t>, kSlots> slots_{};
  std::atomic<std::uint32_t> count_{0};
  std::atomic<pid_t> adding_{0};  ///< The process whose thread does.
};

/// Where this thread is, as the reader says; 0 where there is none.
SiteIndex site_of_this_thread() noexcept;

}  // namespace xleak::monitor
