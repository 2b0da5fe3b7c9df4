#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_set>

namespace xleak::kernel {

/// The signatures of the messages that came last: one that comes again is a copy that somebody else
/// sent. Any thread.
class SeenSignatures {
 public:
  /// As many as jupyter_client remembers; at least half of them are the last ones.
  static constexpr std::size_t kMost = 1 << 16;

  /// Remembers `signature`, hexadecimal digits. False: it is remembered from before.
  bool is_new(std::string_view signature);
  /// How many are remembered.
  std::size_t size() const;

 private:
  // As long as the shortest signature there is, MD5's.
  using Digest = std::array<std::uint64_t, 2>;
  struct Hash {
    std::size_t operator()(const Digest& digest) const noexcept { return digest[0]; }
  };
  static Digest digest_of(std::string_view signature);

  mutable std::mutex mutex_;
  std::unordered_set<Digest, Hash> newer_;
  std::unordered_set<Digest, Hash> older_;
};

}  // namespace xleak::kernel
