#pragma once
#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace xleak::kernel {

/// Starts a thread that no signal is delivered to: handlers run where Python expects them.
template <class Function>
std::thread start_thread(Function&& function) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::forward<Function>(function));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace xleak::kernel
