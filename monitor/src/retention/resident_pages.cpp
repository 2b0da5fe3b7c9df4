#include "retention/resident_pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace xleak::monitor {
namespace {

// Who reserves more uses little of it, and its first part.
constexpr std::int64_t kMostBytes = std::int64_t{16} << 30;
// Bits of an entry of pagemap, one for each page.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;

}  // namespace

ResidentPages::ResidentPages() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

ResidentPages::~ResidentPages() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::int64_t> ResidentPages::bytes(std::uintptr_t begin, std::int64_t length) const {
  const std::int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  std::array<std::uint64_t, 4096> entries{};
  std::int64_t left = (std::min(length, kMostBytes) + page_bytes - 1) / page_bytes;
  auto page = static_cast<std::int64_t>(begin) / page_bytes;
  std::int64_t used = 0;
  while (left > 0) {
    const auto wanted = std::min<std::int64_t>(left, entries.size());
    constexpr std::int64_t kEntry = sizeof(std::uint64_t);
    const auto got =
        ::pread(file_, entries.data(), static_cast<std::size_t>(wanted * kEntry), page * kEntry);
    if (got < kEntry) return std::nullopt;
    const auto read = got / kEntry;
    used += std::count_if(entries.begin(), entries.begin() + read,
                          [](std::uint64_t entry) { return (entry & (kPresent | kSwapped)) != 0; });
    page += read;
    left -= read;
  }
  return used * page_bytes;
}

}  // namespace xleak::monitor
