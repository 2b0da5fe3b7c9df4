#pragma once
#include <cstdint>
#include <optional>

namespace xleak::monitor {

/// Says how much of a map this process uses: pages that are in memory or swapped out, by
/// /proc/self/pagemap.
class ResidentPages {
 public:
  ResidentPages();
  ~ResidentPages();
  ResidentPages(const ResidentPages&) = delete;
  ResidentPages& operator=(const ResidentPages&) = delete;

  /// Of the first 16 GiB. Half a millisecond a GiB. Empty where the system does not say.
  std::optional<std::int64_t> bytes(std::uintptr_t begin, std::int64_t length) const;

 private:
  int file_;
};

}  // namespace xleak::monitor
