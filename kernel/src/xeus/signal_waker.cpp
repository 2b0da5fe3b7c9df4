#include "signal_waker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>

#include "threads.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::kernel {
namespace {

namespace py = pybind11;
using namespace std::chrono_literals;

// Python has a handler for it, so that the main thread, where it arrives, looks at all signals.
// No program uses this one.
const int kWake = SIGRTMAX - 1;

// A main thread on its way into a system call looks at a signal only when that ends, and may be on
// its way for as long as another thread takes to accept the GIL. So it is woken until it looked.
constexpr std::chrono::milliseconds kPatience[] = {1ms, 2ms, 5ms, 10ms, 20ms, 50ms, 100ms};

std::atomic<bool> has_looked{true};
std::atomic<bool> looks_again{false};
int note_descriptor = -1;

void wake(pthread_t main_thread) {
  constexpr std::size_t kLast = std::size(kPatience) - 1;
  has_looked = false;
  for (std::size_t attempt = 0;; ++attempt) {
    ::pthread_kill(main_thread, kWake);
    std::this_thread::sleep_for(kPatience[std::min(attempt, kLast)]);
    if (looks_again) continue;
    if (has_looked || attempt >= kLast) return;
  }
}

// The handler of kWake.
void look(const py::object& looked, const py::object& frame) {
  has_looked = true;
  looks_again = false;
  looked(frame);
}

// Python writes the number of each signal.
void watch(int descriptor, int loop_wake, pthread_t main_thread) {
  std::array<unsigned char, 256> noted;
  for (;;) {
    const auto got = ::read(descriptor, noted.data(), noted.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const auto is_other = [](int number) { return number != kWake; };
    if (!std::any_of(noted.begin(), noted.begin() + got, is_other)) continue;
    ::eventfd_write(loop_wake, 1);
    wake(main_thread);
  }
}

}  // namespace

int start_signal_waker(int loop_wake, const py::object& looked) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) monitor::throw_errno("cannot make a pipe for signals");
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  py::module_::import("signal").attr("signal")(
      kWake, py::cpp_function([looked](int, const py::object& frame) { look(looked, frame); }));
  start_thread([read_end = ends[0], loop_wake, main_thread = ::pthread_self()] {
    watch(read_end, loop_wake, main_thread);
  }).detach();
  note_descriptor = ends[1];
  return ends[1];
}

void look_again() {
  looks_again = true;
  const unsigned char number = SIGINT;
  (void)!::write(note_descriptor, &number, sizeof number);
}

}  // namespace xleak::kernel
