#include "xleak/monitor/guard.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "guard_levels.hpp"
#include "probes/limits.hpp"

namespace xleak::monitor {
namespace {

using namespace std::chrono_literals;

// Between cells little grows, and a line is read with the next one.
constexpr std::chrono::milliseconds kIdle = 2s;
// What this process grows by is seen by the samples of the cell; others grow slower.
constexpr std::chrono::milliseconds kFar = 1s;
constexpr std::chrono::milliseconds kNear = 100ms;
constexpr std::chrono::milliseconds kNearAndGrowing = 50ms;
// The main thread was between two pieces of the cell's code, as an event loop often is.
constexpr std::chrono::milliseconds kUntilStopped = 5ms;
// Between cells; what grows by less in the time from one look to the next does not fill a machine.
constexpr std::int64_t kFillingBytes = 1 << 20;
// A reading takes 30 µs: one for less growth than this would be one for every sample.
constexpr std::int64_t kLeastTrip = 8 << 20;
// A limit may have been lowered since the last look.
constexpr std::int64_t kMostTrip = 128 << 20;
constexpr std::int64_t kNoTrip = std::numeric_limits<std::int64_t>::max();
// Half of the way, so that who grows fast is seen several times before the end.
constexpr std::int64_t kTripShare = 2;

}  // namespace

struct Guard::State {
  explicit State(std::unique_ptr<GuardProbes> source)
      : probes(std::move(source)),
        levels([this](const LimitReading& it) { return probes->largest_other(it); }),
        owner(::getpid()) {}

  bool in_child() const noexcept { return ::getpid() != owner; }
  void start_thread();
  void run();
  void look(std::unique_lock<std::mutex>& lock);
  void wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds time);
  void set_trip(const OwnMemory& own) noexcept;
  std::vector<LimitReading> read_limits() const;
  std::vector<LimitReading> with_devices(std::vector<LimitReading> readings,
                                         const std::vector<DeviceReading>& found) const;
  bool wants_main() const;
  bool wants_stop() const { return policy == GuardPolicy::interrupt && levels.reason_to_stop(); }
  std::chrono::milliseconds interval() const;

  std::unique_ptr<GuardProbes> probes;
  GuardLevels levels;
  const pid_t owner;
  std::atomic<GuardPolicy> policy{GuardPolicy::off};
  std::atomic<std::int64_t> trip_bytes{kNoTrip};
  std::function<void(const GuardNote&)> tell;
  std::function<void(std::int64_t)> tell_rest;
  std::function<void()> call_main;
  std::vector<GuardNote> lines;
  std::vector<DeviceReading> totals;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<OwnMemory> own_before;
  bool is_filling = false;  ///< This process has grown since the look before.
  bool is_tripped = false;
  bool stopping = false;
  std::thread thread;
};

// A thread inherits the mask of its maker: signals must go to the thread that runs user code.
void Guard::State::start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread = std::thread(&State::run, this);
  } catch (const std::system_error&) {
    policy = GuardPolicy::off;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Guard::State::run() {
  ::pthread_setname_np(::pthread_self(), "xleak-guard");
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (policy == GuardPolicy::off) {
      changed.wait(lock);
      continue;
    }
    try {
      look(lock);
    } catch (const std::bad_alloc&) {
      // Memory is out already; the next look may have some.
    }
    wait(lock, interval());
    is_tripped = false;
  }
}

void Guard::State::wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  const auto is_called = [this] { return stopping || is_tripped; };
  while (wants_stop() && !changed.wait_for(lock, kUntilStopped, is_called)) {
    if (std::chrono::steady_clock::now() >= until) return;
    const auto calling = call_main;
    lock.unlock();
    if (calling) calling();
    lock.lock();
  }
  changed.wait_until(lock, until, is_called);
}

// Reads and tells without the lock: a cell that starts or ends waits for neither.
void Guard::State::look(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const auto own = probes->own();
  auto readings = probes->limits();
  const auto devices = probes->devices();
  lock.lock();
  auto told = levels.observe(with_devices(std::move(readings), devices), probes->seconds());
  lines.insert(lines.end(), told.lines.begin(), told.lines.end());
  if (own) set_trip(*own);
  is_filling = own && own_before && own->held_bytes - own_before->held_bytes >= kFillingBytes;
  own_before = own;
  const auto telling = tell;
  const auto calling = wants_main() ? call_main : nullptr;
  const auto telling_rest = levels.runs_cell() ? nullptr : tell_rest;
  lock.unlock();
  if (telling) {
    for (const GuardNote& note : told.changes) telling(note);
  }
  if (calling) calling();
  if (telling_rest && own) telling_rest(own->resident_bytes);
  lock.lock();
}

std::vector<LimitReading> Guard::State::with_devices(
    std::vector<LimitReading> readings, const std::vector<DeviceReading>& found) const {
  for (const DeviceReading& device : found) {
    for (const DeviceReading& known : totals) {
      if (known.device != device.device || !known.total_bytes || !device.allocated_bytes) continue;
      const auto used = *device.allocated_bytes;
      readings.push_back({GuardLimit::device, device.device, used, *known.total_bytes, used, {}});
    }
  }
  return readings;
}

void Guard::State::set_trip(const OwnMemory& own) noexcept {
  const bool watched = policy != GuardPolicy::off && levels.runs_cell();
  const auto way = std::clamp(levels.distance_bytes(own) / kTripShare, kLeastTrip, kMostTrip);
  trip_bytes = watched ? own.resident_bytes + way : kNoTrip;
}

bool Guard::State::wants_main() const {
  if (!levels.runs_cell()) return false;
  return !lines.empty() || wants_stop();
}

std::chrono::milliseconds Guard::State::interval() const {
  if (levels.is_near()) return levels.is_growing() ? kNearAndGrowing : kNear;
  if (levels.runs_cell()) return kFar;
  return is_filling ? kNear : kIdle;
}

// --- what others call --------------------------------------------------------------------------

Guard::Guard(std::unique_ptr<GuardProbes> probes)
    : state_(std::make_unique<State>(std::move(probes))) {}

Guard::~Guard() {
  if (state_->in_child()) {
    // There is no thread to join there, and its lock may be taken for good.
    static_cast<void>(state_.release());
    return;
  }
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

void Guard::set_policy(GuardPolicy policy) noexcept {
  if (state_->in_child() || !state_->probes) return;
  const std::lock_guard lock(state_->mutex);
  state_->policy = policy;
  if (policy != GuardPolicy::off && !state_->thread.joinable()) state_->start_thread();
  if (policy == GuardPolicy::off) state_->trip_bytes = kNoTrip;
  state_->is_tripped = true;
  state_->changed.notify_all();
}

GuardPolicy Guard::policy() const noexcept { return state_->policy; }

void Guard::begin_cell(int index, const std::vector<DeviceReading>& devices) noexcept {
  if (index == 0 || policy() == GuardPolicy::off || state_->in_child()) return;
  try {
    const auto own = state_->probes->own();
    const std::lock_guard lock(state_->mutex);
    state_->totals = devices;
    state_->levels.begin_cell(index, own, devices, state_->probes->seconds());
    if (own) state_->set_trip(*own);
  } catch (...) {
    return;  // Without memory for it the cell is not followed.
  }
}

void Guard::end_cell(int index) noexcept {
  if (index == 0 || state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->levels.end_cell(index);
  if (!state_->levels.runs_cell()) state_->trip_bytes = kNoTrip;
}

void Guard::sampled(std::int64_t resident_bytes) noexcept {
  if (resident_bytes < state_->trip_bytes) return;
  state_->trip_bytes = kNoTrip;
  const std::lock_guard lock(state_->mutex);
  state_->is_tripped = true;
  state_->changed.notify_all();
}

void Guard::tell_by(std::function<void(const GuardNote&)> tell) {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->tell = std::move(tell);
}

void Guard::tell_rest_by(std::function<void(std::int64_t resident_bytes)> tell) {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->tell_rest = std::move(tell);
}

void Guard::call_main_by(std::function<void()> call) {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->call_main = std::move(call);
}

std::vector<GuardNote> Guard::take_lines() {
  if (state_->in_child()) return {};
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->lines, {});
}

std::optional<GuardNote> Guard::reason_to_stop() const {
  if (state_->in_child() || policy() != GuardPolicy::interrupt) return std::nullopt;
  const std::lock_guard lock(state_->mutex);
  return state_->levels.reason_to_stop();
}

void Guard::stopped() noexcept {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->levels.stopped();
}

void Guard::look() {
  if (state_->in_child() || policy() == GuardPolicy::off) return;
  std::unique_lock lock(state_->mutex);
  state_->look(lock);
}

std::vector<LimitState> Guard::states() const {
  if (state_->in_child()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->levels.states();
}

std::vector<GuardNote> Guard::near_limits() const {
  if (state_->in_child()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->levels.near_limits();
}

}  // namespace xleak::monitor
