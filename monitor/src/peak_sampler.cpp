#include "peak_sampler.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

namespace xleak::monitor {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Most peaks of a short cell last milliseconds; a cell of minutes need not be woken for so often.
constexpr auto kYoung = 100ms;
constexpr auto kIntervalYoung = 1ms;
constexpr auto kIntervalOld = 5ms;
constexpr auto kForever = Clock::duration::max();

struct Watch {
  int cell;
  Clock::time_point since;
  std::optional<std::int64_t> peak_bytes;
};

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
  explicit State(Read reader) : read(std::move(reader)), owner(::getpid()) {}

  void run();
  void sample(std::unique_lock<std::mutex>& lock);
  Clock::duration interval() const;

  Read read;
  pid_t owner;
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::vector<Watch> watches;
  bool stopping = false;
  Clock::duration sleep = kForever;
  std::thread thread;
};

void PeakSampler::State::run() {
  ::pthread_setname_np(::pthread_self(), "xleak-sampler");
  std::unique_lock lock(mutex);
  while (!stopping) {
    sleep = interval();
    if (sleep == kForever) {
      wake.wait(lock, [this] { return stopping || !watches.empty(); });
    } else {
      wake.wait_for(lock, sleep);
      sample(lock);
    }
  }
}

// Reads without the lock: a cell that starts or ends never waits for a reading.
void PeakSampler::State::sample(std::unique_lock<std::mutex>& lock) {
  if (watches.empty()) return;
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
}

Clock::duration PeakSampler::State::interval() const {
  if (watches.empty()) return kForever;
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
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_one();
  if (state_->thread.joinable()) state_->thread.join();
}

void PeakSampler::start(int cell) {
  std::unique_lock lock(state_->mutex);
  if (!state_->thread.joinable()) {
    const AllSignalsBlocked blocked;
    state_->thread = std::thread(&State::run, state_.get());
  }
  state_->watches.push_back({cell, Clock::now(), std::nullopt});
  // Waking costs as much as all the rest of the accounting: not where it wakes in time by itself.
  const bool asleep = state_->sleep > kIntervalYoung;
  // Woken under the lock, the thread would only fall asleep again, on the lock.
  lock.unlock();
  if (asleep) state_->wake.notify_one();
}

std::optional<std::int64_t> PeakSampler::stop(int cell) {
  const std::lock_guard lock(state_->mutex);
  auto& watches = state_->watches;
  const auto at = std::find_if(watches.begin(), watches.end(),
                               [cell](const Watch& watch) { return watch.cell == cell; });
  if (at == watches.end()) return std::nullopt;
  const auto peak_bytes = at->peak_bytes;
  watches.erase(at);
  return peak_bytes;
}

bool PeakSampler::parked() const {
  const std::lock_guard lock(state_->mutex);
  return state_->sleep == kForever;
}

}  // namespace xleak::monitor
