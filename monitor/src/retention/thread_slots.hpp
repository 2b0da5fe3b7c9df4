#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace xleak::monitor {

/// What a thread that made a large block has of its own: in the executable's own thread-local
/// space, so that the first use in a thread allocates nothing.
struct ThisThread {
  std::uint16_t slot;    ///< Below ThreadSlots::kSlots, nobody else's while it lives; 0 is shared.
  std::uint16_t number;  ///< From 1, for the reader; 0: has none yet.
  bool reads_site;       ///< A signal handler came in between, which must not begin another.
  bool walks;            ///< Through the import tables.
};
extern __thread ThisThread this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Of the operating system; never 0.
std::uint32_t own_thread_id() noexcept;

/// Hands slots out to threads, and takes them back from those that ended. Nobody says that one does
/// (a destructor for threads would be registered by an allocation), so it is asked for from
/// outside.
class ThreadSlots {
 public:
  static constexpr std::size_t kSlots = 1024;

  /// Gives the calling thread a number, and a slot of its own where one is left.
  void assign() noexcept;
  /// Calls f with the slot of each thread that ended; then the slot is free. A system call a slot.
  template <class F>
  void reclaim(F f) noexcept;
  /// The highest slot that was ever handed out.
  std::size_t highest() const noexcept {
    return std::min<std::size_t>(used_.load(std::memory_order_acquire), kSlots - 1);
  }

 private:
  // Who has the slot, and in the upper half how often it changed hands: two that want it at once
  // are different ones even where the system gave a thread's id to another one meanwhile.
  using Owner = std::uint64_t;
  static constexpr Owner kHandedOver = Owner{1} << 32;

  static bool has_ended(Owner owner) noexcept;
  static Owner handed_to(std::uint32_t thread, Owner before) noexcept {
    return (before / kHandedOver + 1) * kHandedOver + thread;
  }
  std::uint16_t free_slot(std::uint32_t thread) noexcept;

  std::array<std::atomic<Owner>, kSlots> owners_{};
  std::atomic<std::uint32_t> used_{0};  ///< The highest that was ever handed out; may run over.
  std::atomic<std::uint32_t> free_{0};
  std::atomic<std::uint32_t> numbers_{0};
};

extern ThreadSlots thread_slots __attribute__((visibility("hidden")));

/// Of the calling thread, which has its slot.
inline ThisThread& assigned_thread() noexcept {
  if (this_thread.number == 0) thread_slots.assign();
  return this_thread;
}

template <class F>
void ThreadSlots::reclaim(F f) noexcept {
  for (std::size_t slot = 1; slot <= highest(); ++slot) {
    Owner owner = owners_[slot].load(std::memory_order_acquire);
    if (!has_ended(owner)) continue;
    // Its own id: it lives while it does this.
    const Owner mine = handed_to(own_thread_id(), owner);
    if (!owners_[slot].compare_exchange_strong(owner, mine, std::memory_order_acq_rel)) continue;
    f(slot);
    owners_[slot].store(handed_to(0, mine), std::memory_order_release);
    free_.fetch_add(1, std::memory_order_release);
  }
}

}  // namespace xleak::monitor
