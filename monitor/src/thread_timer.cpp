#include "thread_timer.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

// The C library of Debian 12 has the field and no name for it (timer_create(2)).
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace xleak::monitor {
namespace {

// Few programs use this one. One that is sent to the whole process may be taken here.
int number_of_signal() noexcept { return SIGRTMAX - 2; }

}  // namespace

ThreadTimer::ThreadTimer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = number_of_signal();
  event.sigev_notify_thread_id = ::gettid();
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) {
    throw std::system_error(errno, std::generic_category(), "timer_create");
  }
}

ThreadTimer::~ThreadTimer() { ::timer_delete(timer_); }

void ThreadTimer::set(std::chrono::nanoseconds delay) const noexcept {
  constexpr std::chrono::nanoseconds kSecond = std::chrono::seconds(1);
  itimerspec next{};
  next.it_value.tv_sec = delay / kSecond;
  next.it_value.tv_nsec = (delay % kSecond).count();
  ::timer_settime(timer_, 0, &next, nullptr);
}

void ThreadTimer::wait() const noexcept {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, number_of_signal());
  ::sigwaitinfo(&awaited, nullptr);
}

}  // namespace xleak::monitor
