#include "retention/thread_slots.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace xleak::monitor {

__thread ThisThread this_thread __attribute__((tls_model("initial-exec"))) = {};
ThreadSlots thread_slots;

std::uint32_t own_thread_id() noexcept { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

bool ThreadSlots::has_ended(Owner owner) noexcept {
  const auto thread = static_cast<std::uint32_t>(owner);
  if (thread == 0) return false;
  const int error_before = errno;
  const bool ended = ::syscall(SYS_tgkill, ::getpid(), thread, 0) == -1 && errno == ESRCH;
  errno = error_before;
  return ended;
}

std::uint16_t ThreadSlots::free_slot(std::uint32_t thread) noexcept {
  if (free_.load(std::memory_order_acquire) == 0) return 0;
  for (std::size_t slot = 1; slot < kSlots; ++slot) {
    Owner owner = owners_[slot].load(std::memory_order_relaxed);
    if (owner == 0 || static_cast<std::uint32_t>(owner) != 0) continue;
    const Owner mine = handed_to(thread, owner);
    if (owners_[slot].compare_exchange_strong(owner, mine, std::memory_order_acq_rel)) {
      free_.fetch_sub(1, std::memory_order_relaxed);
      return static_cast<std::uint16_t>(slot);
    }
  }
  return 0;
}

void ThreadSlots::assign() noexcept {
  constexpr std::uint32_t kLastNumber = std::numeric_limits<std::uint16_t>::max();
  const std::uint32_t thread = own_thread_id();
  std::uint16_t slot = free_slot(thread);
  if (slot == 0 && used_.load(std::memory_order_relaxed) < kSlots - 1) {
    const std::uint32_t next = used_.fetch_add(1, std::memory_order_acq_rel) + 1;
    // Several may have seen the last one.
    if (next < kSlots) {
      owners_[next].store(handed_to(thread, 0), std::memory_order_release);
      slot = static_cast<std::uint16_t>(next);
    }
  }
  this_thread.slot = slot;
  const std::uint32_t number = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
  this_thread.number = static_cast<std::uint16_t>(std::min(number, kLastNumber));
}

}  // namespace xleak::monitor
