#include "rest_signal.hpp"

#include <algorithm>
#include <atomic>

namespace xleak::kernel {
namespace {

using Clock = std::chrono::steady_clock;

// Never destroyed: a thread may still wait while the process exits.
std::mutex& mutex = *new std::mutex;
std::condition_variable& changed = *new std::condition_variable;
std::atomic<Clock::rep> rests_since{0};  // 0: a request is served.

}  // namespace

void note_rest(bool rests) noexcept {
  rests_since = rests ? Clock::now().time_since_epoch().count() : 0;
}

void RestSignal::set(bool at_once) {
  {
    const std::lock_guard lock(mutex);
    const bool is_news = !is_set_ || (at_once && !at_once_);
    is_set_ = true;
    at_once_ = at_once_ || at_once;
    if (!is_news) return;
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
  const auto latest = Clock::now() + longest_;
  for (auto now = Clock::now(); !at_once_ && now < latest; now = Clock::now()) {
    const Clock::time_point since{Clock::duration{rests_since.load()}};
    const bool rests = since != Clock::time_point{};
    if (rests && now >= since + quiet_) return;
    changed.wait_until(lock, std::min(latest, (rests ? since : now) + quiet_));
  }
}

}  // namespace xleak::kernel
