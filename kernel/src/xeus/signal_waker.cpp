#include "signal_waker.hpp"

#include <Python.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "threads.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::kernel {
namespace {

using namespace std::chrono_literals;

// Its only effect is that a system call of the main thread ends with EINTR. No program uses this
// one.
const int kWake = SIGRTMAX - 1;

// A main thread on its way into a system call looks at a signal only when that ends, and may be on
// its way for as long as another thread takes to accept the GIL. So it is woken until it looked.
constexpr std::chrono::milliseconds kPatience[] = {1ms, 2ms, 5ms, 10ms, 20ms, 50ms, 100ms};

std::atomic<bool> looked{true};

void wake(pthread_t main_thread) {
  looked = false;
  Py_AddPendingCall(
      [](void*) {
        looked = true;
        return 0;
      },
      nullptr);
  for (const auto patience : kPatience) {
    ::pthread_kill(main_thread, kWake);
    std::this_thread::sleep_for(patience);
    if (looked) return;
  }
}

void watch(int descriptor, pthread_t main_thread) {
  std::array<char, 256> noted;
  for (;;) {
    const auto got = ::read(descriptor, noted.data(), noted.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    wake(main_thread);
  }
}

}  // namespace

int start_signal_waker() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) monitor::throw_errno("cannot make a pipe for signals");
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  ::sigaction(kWake, &nothing, nullptr);
  start_thread([read_end = ends[0], main_thread = ::pthread_self()] {
    watch(read_end, main_thread);
  }).detach();
  return ends[1];
}

}  // namespace xleak::kernel
