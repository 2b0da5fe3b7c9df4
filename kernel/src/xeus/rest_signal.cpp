#include "rest_signal.hpp"

namespace xleak::kernel {
namespace {

// Never destroyed: a thread may still wait while the process exits.
std::mutex& mutex = *new std::mutex;
std::condition_variable& changed = *new std::condition_variable;
bool is_at_rest = false;
int waiting_for_rest = 0;

}  // namespace

void note_rest(bool rests) noexcept {
  {
    const std::lock_guard lock(mutex);
    is_at_rest = rests;
    if (!rests || waiting_for_rest == 0) return;
  }
  changed.notify_all();
}

void RestSignal::set(bool at_once) {
  {
    const std::lock_guard lock(mutex);
    is_set_ = true;
    at_once_ = at_once_ || at_once;
  }
  changed.notify_all();
}

void RestSignal::clear() {
  const std::lock_guard lock(mutex);
  is_set_ = at_once_ = false;
}

void RestSignal::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return is_set_; });
  ++waiting_for_rest;
  changed.wait_for(lock, longest_, [this] { return at_once_ || is_at_rest; });
  --waiting_for_rest;
}

}  // namespace xleak::kernel
