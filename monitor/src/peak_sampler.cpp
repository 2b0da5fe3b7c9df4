#include "peak_sampler.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "thread_timer.hpp"

namespace xleak::monitor {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// To wake the thread costs a short cell some 0.1 ms each time. What a thread takes and gives back
// between two samples is little: it writes to a few MiB of new pages in a millisecond.
constexpr auto kFirst = 4ms;
constexpr auto kYoung = 100ms;
constexpr auto kIntervalYoung = 2ms;
constexpr auto kIntervalOld = 5ms;
constexpr auto kNever = 0ms;
// Who looks on sees no more, and a message costs more than a sample.
constexpr auto kBetweenTold = 250ms;

// Enough to see where the time of a cell of seconds goes.
constexpr auto kBetweenBeats = 50ms;

// A thread inherits the mask of its maker: signals must go to the thread that runs user code.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

struct PeakSampler::State {
  struct Watch {
    int cell;
    Clock::time_point since;
    Clock::time_point told;  ///< At first as `since`.
    std::optional<std::int64_t> peak_bytes;
  };

  explicit State(Read reader) : read(std::move(reader)), owner(::getpid()) {}
  ~State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start_thread();
  void run();
  void sample(std::unique_lock<std::mutex>& lock);
  void tell_youngest(std::unique_lock<std::mutex>& lock, std::int64_t bytes);
  void beat_once(std::unique_lock<std::mutex>& lock);
  void wake_in(Clock::duration delay) const noexcept;
  Clock::duration interval() const;

  Read read;
  Tell tell;
  std::function<void()> beat;
  Clock::time_point last_beat{};
  pid_t owner;
  mutable std::mutex mutex;
  std::vector<Watch> watches;
  bool sampling = false;
  bool stopping = false;
  std::optional<ThreadTimer> timer;  ///< Of the thread, once it runs.
  std::thread thread;
};

void PeakSampler::State::start_thread() {
  const AllSignalsBlocked blocked;
  thread = std::thread(&State::run, this);
}

void PeakSampler::State::wake_in(Clock::duration delay) const noexcept {
  if (timer) timer->set(delay);
}

void PeakSampler::State::run() {
  ::pthread_setname_np(::pthread_self(), "xleak-sampler");
  std::unique_lock lock(mutex);
  try {
    timer.emplace();
  } catch (const std::system_error&) {
    // The user's limit of timers is reached: cells have no peak.
    return;
  }
  if (!watches.empty()) wake_in(kFirst);
  while (!stopping) {
    lock.unlock();
    timer->wait();
    lock.lock();
    if (stopping || watches.empty()) continue;
    sampling = true;
    sample(lock);
    beat_once(lock);
    sampling = false;
    if (!stopping && !watches.empty()) wake_in(interval());
  }
}

// Reads without the lock: a cell that starts or ends never waits for a reading.
void PeakSampler::State::sample(std::unique_lock<std::mutex>& lock) {
  const auto began = Clock::now();
  lock.unlock();
  const auto bytes = read();
  lock.lock();
  if (!bytes) return;
  for (Watch& watch : watches) {
    // What was read before a cell started is not of that cell.
    if (watch.since > began) continue;
    watch.peak_bytes = std::max(watch.peak_bytes.value_or(0), *bytes);
  }
  tell_youngest(lock, *bytes);
}

void PeakSampler::State::tell_youngest(std::unique_lock<std::mutex>& lock, std::int64_t bytes) {
  const auto now = Clock::now();
  if (!tell || watches.empty() || now - watches.back().told < kBetweenTold) return;
  Watch& youngest = watches.back();
  youngest.told = now;
  const int cell = youngest.cell;
  const double seconds = std::chrono::duration<double>(now - youngest.since).count();
  const Tell telling = tell;
  lock.unlock();
  telling(cell, seconds, bytes);
  lock.lock();
}

void PeakSampler::State::beat_once(std::unique_lock<std::mutex>& lock) {
  const auto now = Clock::now();
  if (!beat || watches.empty() || now - watches.back().since < kYoung) return;
  if (now - last_beat < kBetweenBeats) return;
  last_beat = now;
  const auto beating = beat;
  lock.unlock();
  beating();
  lock.lock();
}

Clock::duration PeakSampler::State::interval() const {
  // The last one is the youngest.
  return Clock::now() - watches.back().since < kYoung ? kIntervalYoung : kIntervalOld;
}

PeakSampler::PeakSampler(Read read) : state_(std::make_unique<State>(std::move(read))) {}

PeakSampler::~PeakSampler() {
  if (::getpid() != state_->owner) {
    // In a forked child there is no thread to join, and its lock may be taken for good.
    static_cast<void>(state_.release());
    return;
  }
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->wake_in(1ns);
  }
  state_->thread.join();
}

void PeakSampler::start(int cell) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->thread.joinable()) state_->start_thread();
  const auto now = Clock::now();
  state_->watches.push_back({cell, now, now, std::nullopt});
  state_->wake_in(kFirst);
}

std::optional<std::int64_t> PeakSampler::stop(int cell) {
  const std::lock_guard lock(state_->mutex);
  auto& watches = state_->watches;
  const auto at = std::find_if(watches.begin(), watches.end(),
                               [cell](const State::Watch& watch) { return watch.cell == cell; });
  if (at == watches.end()) return std::nullopt;
  const auto peak_bytes = at->peak_bytes;
  watches.erase(at);
  if (watches.empty()) state_->wake_in(kNever);
  return peak_bytes;
}

void PeakSampler::follow(Tell tell) {
  const std::lock_guard lock(state_->mutex);
  state_->tell = std::move(tell);
}

void PeakSampler::beat_by(std::function<void()> beat) {
  const std::lock_guard lock(state_->mutex);
  state_->beat = std::move(beat);
}

bool PeakSampler::parked() const {
  const std::lock_guard lock(state_->mutex);
  return state_->watches.empty() && !state_->sampling;
}

}  // namespace xleak::monitor
