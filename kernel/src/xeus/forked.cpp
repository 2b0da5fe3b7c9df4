#include "forked.hpp"

#include <pthread.h>

#include <atomic>

namespace xleak::kernel {
namespace {

std::atomic<bool> forked{false};
std::atomic<bool> forking{false};

}  // namespace

void watch_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { forked = true; });
  (void)registered;
}

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

void note_fork(bool begins) noexcept { forking = begins; }

bool is_forking() noexcept { return forking.load(std::memory_order_relaxed); }

}  // namespace xleak::kernel
