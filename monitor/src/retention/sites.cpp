#include "retention/sites.hpp"

#include <unistd.h>

#include <cstring>
#include <string_view>

namespace xleak::monitor {
namespace {

constexpr std::string_view kCut = "…";

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; }

/// Copies as much of the end as fits; a character is not cut.
template <std::size_t Size>
void copy_end(std::array<char, Size>& out, const char* text) noexcept {
  const std::size_t length = std::strlen(text);
  if (length < Size) {
    std::memcpy(out.data(), text, length);
    return;
  }
  const char* from = text + length - (Size - 1 - kCut.size());
  while (!begins_character(*from)) ++from;
  std::memcpy(out.data(), kCut.data(), kCut.size());
  std::memcpy(out.data() + kCut.size(), from, std::strlen(from));
}

/// FNV-1a.
std::uint32_t hash_of(std::uint32_t before, const char* text) noexcept {
  constexpr std::uint32_t kPrime = 16777619;
  for (; *text != 0; ++text) before = (before ^ static_cast<unsigned char>(*text)) * kPrime;
  return before;
}

SiteTable table;
std::atomic<SiteReader> reader{nullptr};

}  // namespace

SiteIndex SiteTable::intern(const SiteText& text) noexcept {
  const Entry entry = entry_of(text);
  if (const SiteIndex known = find(entry).index) return known;
  if (!lock()) return 0;
  const SiteIndex index = add(entry);
  adding_.store(0, std::memory_order_release);
  return index;
}

std::optional<Site> SiteTable::at(SiteIndex index) const {
  if (index == 0 || index > count_.load(std::memory_order_acquire)) return std::nullopt;
  const Entry& entry = entries_[index];
  return Site{entry.file.data(), entry.function.data(), entry.line};
}

SiteTable::Entry SiteTable::entry_of(const SiteText& text) noexcept {
  constexpr std::uint32_t kOffset = 2166136261;
  Entry entry{};
  copy_end(entry.file, text.file);
  copy_end(entry.function, text.function);
  entry.line = text.line;
  const std::uint32_t names = hash_of(hash_of(kOffset, entry.file.data()), entry.function.data());
  // The lines of one function lie apart.
  entry.hash = (names ^ static_cast<std::uint32_t>(text.line)) * 2654435769u;
  return entry;
}

/// The same place; else index 0 and the slot where it belongs.
SiteTable::Found SiteTable::find(const Entry& wanted) const noexcept {
  std::size_t slot = wanted.hash % kSlots;
  for (;; slot = (slot + 1) % kSlots) {
    const std::uint16_t index = slots_[slot].load(std::memory_order_acquire);
    if (index == 0) return {slot, 0};
    const Entry& entry = entries_[index];
    if (entry.hash == wanted.hash && entry.line == wanted.line && entry.file == wanted.file &&
        entry.function == wanted.function) {
      return {slot, index};
    }
  }
}

bool SiteTable::lock() noexcept {
  const pid_t own = ::getpid();
  pid_t holder = adding_.load(std::memory_order_relaxed);
  // After a fork that came in between, the thread that was adding is not in this process.
  return holder != own && adding_.compare_exchange_strong(holder, own, std::memory_order_acquire);
}

SiteIndex SiteTable::add(const Entry& entry) noexcept {
  // Somebody may have added it before the lock was had.
  const auto [slot, known] = find(entry);
  if (known != 0) return known;
  const SiteIndex index = count_.load(std::memory_order_relaxed) + 1;
  if (index > kCapacity) return 0;
  entries_[index] = entry;
  // Before the slot: whoever is forked in between must not give the same index out twice.
  count_.store(index, std::memory_order_release);
  slots_[slot].store(static_cast<std::uint16_t>(index), std::memory_order_release);
  return index;
}

SiteIndex intern_site(const SiteText& text) noexcept { return table.intern(text); }

std::optional<Site> site_at(SiteIndex index) { return table.at(index); }

void read_sites_by(SiteReader function) noexcept {
  reader.store(function, std::memory_order_release);
}

SiteIndex site_of_this_thread() noexcept {
  const SiteReader function = reader.load(std::memory_order_acquire);
  return function == nullptr ? 0 : function();
}

}  // namespace xleak::monitor
