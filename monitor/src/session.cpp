#include "xleak/monitor/session.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "device_use.hpp"
#include "finding_book.hpp"
#include "flight_recorder.hpp"
#include "ledger.hpp"
#include "probes/limits.hpp"
#include "probes/probes.hpp"

namespace xleak::monitor {
namespace {

// More than any machine has.
constexpr std::size_t kMostDevices = 64;

std::vector<DeviceReading> read_all(DeviceReader reader) {
  if (reader == nullptr) return {};
  char names[kMostDevices][kDeviceNameSize];
  std::array<std::int64_t, kMostDevices> allocated, reserved;
  const auto count = reader(names, allocated.data(), reserved.data(), kMostDevices);
  std::vector<DeviceReading> readings;
  for (std::size_t at = 0; at < count; ++at) {
    readings.push_back({names[at], allocated[at], reserved[at], std::nullopt});
  }
  return readings;
}

}  // namespace

struct Session::State {
  explicit State(std::unique_ptr<Probes> source)
      : probes(std::move(source)),
        guard(live_guard_probes([this] { return read_all(device_reader); })),
        ledger(*probes, [this](std::int64_t bytes) {
          guard.sampled(bytes);
          if (const auto recorder = flight()) recorder->sample(bytes);
        }) {
    guard.tell_rest_by([this](std::int64_t bytes) {
      if (const auto recorder = flight()) recorder->rest(bytes);
    });
  }

  // In a forked child the descriptors show the parent, the sampler is gone, and another thread may
  // have held the lock: nothing there may be touched.
  bool in_child() const noexcept { return ::getpid() != owner; }

  /// Kept alive for the caller: another thread may drop it meanwhile.
  std::shared_ptr<FlightRecorder> flight() const {
    const std::lock_guard lock(recorder_mutex);
    return recorder;
  }
  std::shared_ptr<FlightRecorder> exchange(std::shared_ptr<FlightRecorder> next) {
    const std::lock_guard lock(recorder_mutex);
    return std::exchange(recorder, std::move(next));
  }

  const pid_t owner = ::getpid();
  mutable std::mutex recorder_mutex;
  std::shared_ptr<FlightRecorder> recorder;
  std::atomic<bool> enabled{true};
  std::atomic<DeviceReader> device_reader{nullptr};
  mutable std::mutex mutex;
  std::unique_ptr<Probes> probes;
  Guard guard;    ///< Its thread writes the record.
  Ledger ledger;  ///< Its thread tells the guard.
  FindingBook book;
};

Session& Session::instance() {
  // Never destroyed: cells may still end, and the sampler still runs, while the process exits.
  static Session* const session = std::make_unique<Session>().release();
  return *session;
}

Session::Session() : Session(live_probes()) {}
Session::Session(std::unique_ptr<Probes> probes)
    : state_(std::make_unique<State>(std::move(probes))) {}
Session::~Session() = default;

int Session::begin_cell(const CellIdentity& identity, const InterpreterReading& before) noexcept {
  if (!enabled() || state_->in_child()) return 0;
  int index = 0;
  try {
    const std::lock_guard lock(state_->mutex);
    index = state_->ledger.open(identity, before);
    if (const auto recorder = state_->flight()) {
      const auto cell = state_->ledger.live(index, 0, 0);
      const auto resident = cell ? std::optional(cell->resident_before_bytes) : std::nullopt;
      recorder->begin(index, identity.cell_id.value_or(""), resident);
    }
  } catch (...) {
    return 0;
  }
  state_->guard.begin_cell(index, before.devices);
  return index;
}

void Session::end_cell(int index, CellStatus status, const std::optional<int>& execution_count,
                       const InterpreterReading& after) noexcept {
  if (index == 0 || state_->in_child()) return;
  state_->guard.end_cell(index);
  try {
    const std::lock_guard lock(state_->mutex);
    if (const auto recorder = state_->flight()) recorder->end(index);
    state_->ledger.close(index, status, execution_count, after);
  } catch (...) {
    // Out of memory: the record stays as far as it got, and the cell goes on.
    return;
  }
}

void Session::exclude_python_use(std::int64_t blocks, std::int64_t bytes) noexcept {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->ledger.exclude_python_use(blocks, bytes);
}

void Session::mark_own(int index) noexcept {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->ledger.mark_own(index);
}

LargeVector<CellRecord> Session::records() const {
  if (state_->in_child()) return {};
  const std::lock_guard lock(state_->mutex);
  const auto& records = state_->ledger.records();
  return {records.begin(), records.end()};
}

std::optional<CellRecord> Session::latest_record() const {
  if (state_->in_child()) return std::nullopt;
  const std::lock_guard lock(state_->mutex);
  const auto& records = state_->ledger.records();
  return records.empty() ? std::nullopt : std::optional(records.back());
}

std::optional<CellRecord> Session::record(int index) const {
  if (state_->in_child()) return std::nullopt;
  const std::lock_guard lock(state_->mutex);
  const auto& records = state_->ledger.records();
  if (index < 1 || static_cast<std::size_t>(index) > records.size()) return std::nullopt;
  return records[static_cast<std::size_t>(index) - 1];
}

std::optional<LiveCell> Session::running() const {
  if (state_->in_child()) return std::nullopt;
  const std::lock_guard lock(state_->mutex);
  return state_->ledger.running();
}

std::optional<std::int64_t> Session::resident_bytes() const {
  if (state_->in_child()) return std::nullopt;
  const std::lock_guard lock(state_->mutex);
  return state_->probes->resident_bytes();
}

CellChange Session::change_of(int index) const {
  if (state_->in_child()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->ledger.change_of(index);
}

void Session::follow(std::function<void(const LiveCell&)> listener) {
  if (state_->in_child()) return;
  PeakSampler::Tell tell;
  if (listener) {
    tell = [state = state_.get(), told = std::move(listener)](int index, double seconds,
                                                              std::int64_t resident_bytes) {
      // Before the session is locked: an allocator may be busy for long.
      auto devices = read_all(state->device_reader);
      const std::lock_guard lock(state->mutex);
      auto cell = state->ledger.live(index, seconds, resident_bytes);
      if (!cell) return;
      cell->devices = std::move(devices);
      told(*cell);
    };
  }
  const std::lock_guard lock(state_->mutex);
  state_->ledger.follow(std::move(tell));
}

void Session::beat_by(std::function<void()> beat) {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->ledger.beat_by(std::move(beat));
}

Guard& Session::guard() noexcept { return state_->guard; }

void Session::read_devices_by(DeviceReader reader) noexcept { state_->device_reader = reader; }

void Session::keep_flight_record(const std::string& path, const FlightIdentity& identity) {
  if (state_->in_child()) return;
  drop_flight_record();
  state_->exchange(std::make_shared<FlightRecorder>(path, identity));
}

void Session::drop_flight_record() noexcept {
  if (state_->in_child()) return;
  if (const auto recorder = state_->exchange(nullptr)) recorder->remove();
}

void Session::announce_cell(std::string_view source, std::optional<int> execution_count) noexcept {
  if (state_->in_child()) return;
  if (const auto recorder = state_->flight()) recorder->announce(source, execution_count);
}

void Session::cell_answered() noexcept {
  if (state_->in_child()) return;
  if (const auto recorder = state_->flight()) recorder->answered();
}

void Session::asked_to_end() noexcept {
  if (state_->in_child()) return;
  if (const auto recorder = state_->flight()) recorder->asked_to_end();
}

Judgement Session::judge(SessionView view) {
  if (state_->in_child()) return {};
  const std::lock_guard lock(state_->mutex);
  view.devices = device_states(state_->ledger.records());
  return state_->book.judge(all_smells(), view);
}

void Session::set_rules_off(std::set<std::string> codes) {
  if (state_->in_child()) return;
  const std::lock_guard lock(state_->mutex);
  state_->book.set_off(std::move(codes));
}

std::vector<Verdict> Session::findings() const {
  if (state_->in_child()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->book.findings();
}

void Session::set_enabled(bool enabled) noexcept {
  state_->enabled = enabled;
  if (state_->in_child()) return;
  try {
    const std::lock_guard lock(state_->mutex);
    if (!enabled) state_->ledger.forget_previous();
  } catch (...) {
    return;
  }
}

bool Session::enabled() const noexcept { return state_->enabled; }

}  // namespace xleak::monitor
