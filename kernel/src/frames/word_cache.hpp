#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace xleak::frames {

/// What was found before, by keys of 64 well mixed bits; the newest takes the place of an older. A
/// slot is one word, 48 bits of the key and the number: it is read and written in one piece, so no
/// thread waits for another, no signal handler finds one half written, and none survives a fork so.
template <std::size_t Slots>
class WordCache {
 public:
  /// 0 where nothing is known.
  std::uint32_t find(std::uint64_t key) const noexcept {
    const std::uint64_t word = words_[key % Slots].load(std::memory_order_relaxed);
    return ((word ^ key) & ~kNumber) == 0 ? static_cast<std::uint32_t>(word & kNumber) : 0;
  }
  /// `number` is below 2^16.
  void keep(std::uint64_t key, std::uint32_t number) noexcept {
    words_[key % Slots].store((key & ~kNumber) | number, std::memory_order_relaxed);
  }
  void clear() noexcept {
    for (auto& word : words_) word.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kNumber = 0xFFFF;
  // The slot is of the bits of the key that the word has no room for.
  static_assert(Slots <= kNumber + 1 && (Slots & (Slots - 1)) == 0);

  std::array<std::atomic<std::uint64_t>, Slots> words_{};
};

}  // namespace xleak::frames
