#include "retention/stale_blocks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

namespace xleak::monitor {
namespace {

constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);
constexpr std::uintptr_t kPageBytes = 4096;

// Of a glibc header: the size, and in its low bits what is known of the chunk and the one before
// it.
constexpr std::uintptr_t kPreviousInUse = 1;
constexpr std::uintptr_t kMapped = 2;
constexpr std::uintptr_t kFlags = 7;

/// Words of this process's memory that may not be there.
class Words {
 public:
  Words() : file_(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
  ~Words() {
    if (file_ >= 0) ::close(file_);
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// One for each address; empty where nothing is mapped.
  std::vector<std::optional<std::uintptr_t>> read(const std::vector<std::uintptr_t>& addresses) {
    std::vector<std::optional<std::uintptr_t>> values(addresses.size());
    for (std::size_t from = 0; from < addresses.size();) from = read_some(addresses, from, values);
    return values;
  }
  /// Whether anything can be had at all: a container may forbid both ways.
  bool readable() {
    const std::uintptr_t known = 1;
    return read({reinterpret_cast<std::uintptr_t>(&known)})[0].has_value();
  }

 private:
  // As many as one call takes; a call for each word takes three times as long.
  static constexpr std::size_t kAtOnce = 512;

  std::size_t read_some(const std::vector<std::uintptr_t>& addresses, std::size_t from,
                        std::vector<std::optional<std::uintptr_t>>& values) {
    std::array<std::uintptr_t, kAtOnce> found{};
    std::array<iovec, kAtOnce> remote{};
    const std::size_t count = std::min(kAtOnce, addresses.size() - from);
    for (std::size_t at = 0; at < count; ++at) {
      remote[at] = {reinterpret_cast<void*>(addresses[from + at]), kWord};
    }
    const iovec local{found.data(), count * kWord};
    const auto got = ::process_vm_readv(::getpid(), &local, 1, remote.data(), count, 0);
    if (got < 0 && errno != EFAULT) {
      values[from] = read_one(addresses[from]);
      return from + 1;
    }
    const std::size_t whole = got < 0 ? 0 : static_cast<std::size_t>(got) / kWord;
    std::copy_n(found.begin(), whole, values.begin() + static_cast<std::ptrdiff_t>(from));
    // Where it stopped early the next one is not there.
    return from + whole + (whole < count ? 1 : 0);
  }

  std::optional<std::uintptr_t> read_one(std::uintptr_t address) const {
    std::uintptr_t value = 0;
    if (::pread(file_, &value, kWord, static_cast<off_t>(address)) != kWord) return std::nullopt;
    return value;
  }

  int file_;
};

bool is_mapped(std::uintptr_t address) {
  unsigned char resident = 0;
  void* const page = reinterpret_cast<void*>(address & ~(kPageBytes - 1));
  return ::mincore(page, kPageBytes, &resident) == 0 || errno != ENOMEM;
}

/// Whether a block of this size can have this header.
bool fits(const KnownBlock& block, std::uintptr_t header) {
  const auto bytes = static_cast<std::uintptr_t>(block.bytes);
  const std::uintptr_t chunk = header & ~kFlags;
  // An aligned block with pages of its own keeps what lies behind it, up to its alignment; how
  // large that is can be no more than the address shows.
  const std::uintptr_t alignment = block.address & (~block.address + 1);
  const std::uintptr_t slack = 2 * kPageBytes + ((header & kMapped) != 0 ? alignment : 0);
  return chunk >= bytes + kWord && chunk < bytes + slack;
}

std::vector<std::uintptr_t> headers_of(const std::vector<KnownBlock>& blocks) {
  std::vector<std::uintptr_t> addresses;
  addresses.reserve(blocks.size());
  for (const KnownBlock& block : blocks) addresses.push_back(block.address - kWord);
  return addresses;
}

/// Of heap blocks alone.
std::vector<bool> without_header(const std::vector<KnownBlock>& blocks) {
  std::vector<bool> stale(blocks.size(), false);
  Words words;
  if (!words.readable()) return stale;
  const auto headers = words.read(headers_of(blocks));
  // The header of the chunk behind says whether this one is in use, but for one with its own pages.
  std::vector<std::uintptr_t> behind;
  std::vector<std::size_t> asked;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    stale[at] = !headers[at] || !fits(blocks[at], *headers[at]);
    if (stale[at] || (*headers[at] & kMapped) != 0) continue;
    behind.push_back(blocks[at].address - kWord + (*headers[at] & ~kFlags));
    asked.push_back(at);
  }
  const auto next = words.read(behind);
  for (std::size_t at = 0; at < asked.size(); ++at) {
    stale[asked[at]] = !next[at] || (*next[at] & kPreviousInUse) == 0;
  }
  return stale;
}

/// Of two that overlap the older one was released.
void mark_overlapped(const std::vector<KnownBlock>& blocks, std::vector<bool>& stale) {
  std::optional<std::size_t> before;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    if (stale[at]) continue;
    const auto end =
        before ? blocks[*before].address + static_cast<std::uintptr_t>(blocks[*before].bytes) : 0;
    if (before && end > blocks[at].address) {
      // The numbers wrap.
      const auto older = static_cast<std::int32_t>(blocks[*before].order - blocks[at].order) < 0;
      stale[older ? *before : at] = true;
      if (!older) continue;
    }
    before = at;
  }
}

}  // namespace

std::vector<KnownBlock> take_out_stale(std::vector<KnownBlock>& blocks) {
  std::vector<KnownBlock> heap;
  std::vector<std::size_t> places;
  std::vector<bool> stale(blocks.size(), false);
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    if (blocks[at].kind != BlockKind::heap) {
      stale[at] = !is_mapped(blocks[at].address);
      continue;
    }
    heap.push_back(blocks[at]);
    places.push_back(at);
  }
  const auto without = without_header(heap);
  for (std::size_t at = 0; at < heap.size(); ++at) stale[places[at]] = without[at];
  mark_overlapped(blocks, stale);
  std::vector<KnownBlock> alive;
  std::vector<KnownBlock> taken_out;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    (stale[at] ? taken_out : alive).push_back(blocks[at]);
  }
  blocks = std::move(alive);
  return taken_out;
}

}  // namespace xleak::monitor
