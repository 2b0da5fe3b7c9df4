#pragma once
#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace xleak::kernel {

/// No signal is delivered to this thread while it lives. ZeroMQ fails with EINTR halfway through a
/// message otherwise.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// Starts a thread that no signal is delivered to: handlers run where Python expects them.
template <class Function>
std::thread start_thread(Function&& function) {
  const SignalsBlocked blocked;
  return std::thread(std::forward<Function>(function));
}

}  // namespace xleak::kernel
