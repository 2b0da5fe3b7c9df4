#include "flight_recorder.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "proc_file.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::monitor {
namespace {

using namespace std::chrono_literals;
using flight::kUnknown;

// A cell of minutes is drawn from a thousand points as well as from a million. The interval doubles
// whenever they are used up.
constexpr auto kFirstInterval = 20ms;
// What it costs to ask would show in the load of a core if it were asked for with each size.
constexpr auto kBetweenQuestions = 1s;
// While no cell runs: a file that stays as it was is not written to the disk again.
constexpr std::int64_t kWorthWriting = 16 << 20;

std::atomic<std::uint64_t> recorded_device{0}, recorded_inode{0};

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

template <std::size_t N>
void put(char (&field)[N], std::string_view text, std::size_t most = N - 1) {
  std::memset(field, 0, N);
  std::memcpy(field, text.data(), std::min({text.size(), most, N - 1}));
}

// A path that is cut names another file.
template <std::size_t N>
void put_path(char (&field)[N], std::string_view path) {
  put(field, path.size() < N ? path : std::string_view());
}

// See flight::Cell of what is whole. The fences keep the stores in their order: after a SIGKILL the
// file has all of them up to some one.
template <class Slot>
void publish(Slot& slot, Slot value, std::uint64_t number) {
  __atomic_store_n(&slot.after, 0, __ATOMIC_RELAXED);
  std::atomic_thread_fence(std::memory_order_release);
  value.before = number;
  value.after = 0;
  slot = value;
  std::atomic_thread_fence(std::memory_order_release);
  __atomic_store_n(&slot.after, number, __ATOMIC_RELAXED);
}

bool differ(std::int64_t before, std::int64_t now) {
  return std::abs(now - before) >= kWorthWriting;
}

template <class Number>
void store_if_new(Number& field, Number value) {
  if (field != value) __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

double seconds_since_1970() {
  return seconds_of(std::chrono::system_clock::now().time_since_epoch());
}

// btrfs writes a changed page to a new place, for which there may be no room by then.
void overwrite_in_place(int fd) noexcept {
  int flags = 0;
  if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_NOCOW_FL;
  static_cast<void>(::ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

}  // namespace

FlightRecorder::FlightRecorder(std::string path, const FlightIdentity& identity,
                               FlightProbes probes)
    : path_(std::move(path)), probes_(std::move(probes)) {
  const auto refuse = [this] {
    const int why = errno;
    if (file_descriptor_.number() >= 0) remove();
    errno = why;
    throw_errno("cannot make " + path_);
  };
  file_descriptor_ = OwnDescriptor(
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const int descriptor = file_descriptor_.number();
  if (descriptor < 0) refuse();
  // Held as long as the process lives, and seen from other namespaces and machines, where its
  // number says nothing.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  static_cast<void>(::fcntl(descriptor, F_SETLK, &lock));
  overwrite_in_place(descriptor);
  // A page that the disk has no room for would be a SIGBUS in the user's cell.
  errno = ::posix_fallocate(descriptor, 0, flight::kFileBytes);
  if (errno != 0) refuse();
  void* const mapped =
      ::mmap(nullptr, flight::kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) refuse();
  file_ = static_cast<flight::File*>(mapped);
  const auto made = identity_of(descriptor);
  recorded_device = made.device;
  recorded_inode = made.inode;
  history_.reserve(flight::kHistory);
  free_.reserve(flight::kHistory);
  fill(identity);
}

FlightRecorder::~FlightRecorder() {
  ::munmap(file_, flight::kFileBytes);
  recorded_inode = 0;
}

void FlightRecorder::fill(const FlightIdentity& identity) {
  flight::Process process{};
  process.version = flight::kVersion;
  process.pid = ::getpid();
  process.start_ticks = start_ticks(process.pid).value_or(0);
  process.started = seconds_since_1970();
  process.limit_bytes = kUnknown;
  put(process.boot_id, boot_id());
  put(process.versions, identity.versions);
  put_path(process.group_kills_file, group_kills_file());
  put_path(process.connection_file, identity.connection_file);
  put_path(process.folder, identity.folder);
  file_->process = process;
  ask_machine();
  // Last: without it the file is no record.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(file_->process.magic, flight::kMagic, sizeof flight::kMagic);
}

void FlightRecorder::announce(std::string_view source, std::optional<int> execution_count) {
  const std::lock_guard lock(mutex_);
  put(announced_.source, source, kFlightSourceBytes);
  announced_.execution_count = execution_count.value_or(kUnknown);
}

void FlightRecorder::begin(int index, std::string_view cell_id,
                           std::optional<std::int64_t> resident_bytes) {
  const std::lock_guard lock(mutex_);
  cell_ = announced_;
  announced_ = {};
  if (cell_.source[0] == '\0' && cell_.execution_count == 0) cell_.execution_count = kUnknown;
  cell_.index = index;
  cell_.began = seconds_since_1970();
  cell_.running = 1;
  put(cell_.cell_id, cell_id);
  began_ = probes_.now();
  write_cell();
  cell_number_ = number_;
  interval_ = kFirstInterval;
  machine_asked_.reset();
  history_.clear();
  free_.clear();
  if (resident_bytes) write_history(*resident_bytes, 0ns);
}

void FlightRecorder::sample(std::int64_t resident_bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (cell_.running == 0) return;
    const auto at = age();
    write_latest(resident_bytes, at);
    if (history_.empty() || at - last_in_history_ >= interval_) write_history(resident_bytes, at);
    if (machine_asked_ && at - *machine_asked_ < kBetweenQuestions) return;
    machine_asked_ = at;
  }
  ask_machine();
}

void FlightRecorder::rest(std::int64_t resident_bytes) {
  ask_machine();
  const std::lock_guard lock(mutex_);
  if (cell_.running != 0 || cell_number_ == 0) return;
  const auto at = age();
  const auto now = sample_of(resident_bytes, at);
  const flight::Sample& last = file_->latest[turn_];
  if (last.cell == now.cell && !differ(last.resident_bytes, now.resident_bytes) &&
      !differ(last.available_bytes, now.available_bytes)) {
    return;
  }
  write_latest(resident_bytes, at);
}

void FlightRecorder::end(int index) {
  const std::lock_guard lock(mutex_);
  if (cell_.running == 0 || cell_.index != index) return;
  cell_.running = 0;
}

void FlightRecorder::answered() {
  const std::lock_guard lock(mutex_);
  if (cell_.running != 0 || cell_number_ == 0) return;
  // One store: whoever is killed around it leaves a whole cell, before or after its end.
  store_if_new(file_->cells[cell_number_ % 2].running, 0u);
}

void FlightRecorder::asked_to_end() noexcept {
  __atomic_store_n(&file_->process.asked_to_end, 1, __ATOMIC_RELEASE);
}

void FlightRecorder::remove() noexcept { ::unlink(path_.c_str()); }

void FlightRecorder::write_cell() {
  // Cells take turns by an own count: samples count in between.
  number_ += number_ % 2 == cell_number_ % 2 ? 1 : 2;
  publish(file_->cells[number_ % 2], cell_, number_);
}

void FlightRecorder::write_latest(std::int64_t resident_bytes, std::chrono::nanoseconds at) {
  turn_ = 1 - turn_;
  publish(file_->latest[turn_], sample_of(resident_bytes, at), ++number_);
}

void FlightRecorder::write_history(std::int64_t resident_bytes, std::chrono::nanoseconds at) {
  last_in_history_ = at;
  const auto slot = next_history_slot();
  publish(file_->history[slot], sample_of(resident_bytes, at), ++number_);
}

// Where all are used, every second one makes room; nothing is moved, as who is killed while moving
// would leave a hole.
std::size_t FlightRecorder::next_history_slot() {
  // Before the first time that they are used up, they are taken in turn.
  if (free_.empty() && history_.size() < flight::kHistory) {
    history_.push_back(static_cast<std::uint16_t>(history_.size()));
    return history_.back();
  }
  if (free_.empty()) {
    std::vector<std::uint16_t>::size_type kept = 0;
    for (std::size_t at = 0; at < history_.size(); ++at) {
      if (at % 2 == 0) {
        history_[kept++] = history_[at];
      } else {
        free_.push_back(history_[at]);
      }
    }
    history_.resize(kept);
    interval_ *= 2;
  }
  history_.push_back(free_.back());
  free_.pop_back();
  return history_.back();
}

flight::Sample FlightRecorder::sample_of(std::int64_t resident_bytes,
                                         std::chrono::nanoseconds at) const {
  flight::Sample sample{};
  sample.cell = cell_number_;
  sample.seconds = seconds_of(at);
  sample.resident_bytes = resident_bytes;
  sample.available_bytes = available_bytes_.value_or(kUnknown);
  return sample;
}

// The count of kills is taken again, so that one of an earlier cell is not taken for the last.
// Without the lock: a statistic of a control group can take milliseconds, and no cell waits for it.
void FlightRecorder::ask_machine() {
  const auto kills = probes_.kills();
  const auto limit = probes_.limit();
  const std::lock_guard lock(mutex_);
  auto& process = file_->process;
  store_if_new(process.group_kills, kills.group.value_or(kUnknown));
  store_if_new(process.machine_kills, kills.machine.value_or(kUnknown));
  available_bytes_.reset();
  if (!limit) return;
  available_bytes_ = std::max<std::int64_t>(0, limit->limit_bytes - limit->used_bytes);
  store_if_new(process.limit_is_group, limit->limit == GuardLimit::cgroup ? 1u : 0u);
  store_if_new(process.limit_bytes, limit->limit_bytes);
}

std::optional<std::uint64_t> parse_start_ticks(std::string_view text) {
  // The name, in parentheses, may hold anything; behind it come the state and numbers (proc(5)).
  constexpr int kFieldsBetween = 19;
  const auto name_end = text.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  text.remove_prefix(name_end + 2);
  if (text[0] == 'Z' || text[0] == 'X') return std::nullopt;
  for (int field = 0; field < kFieldsBetween; ++field) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    text.remove_prefix(space + 1);
  }
  std::uint64_t ticks = 0;
  const auto status = std::from_chars(text.data(), text.data() + text.size(), ticks).ec;
  return status == std::errc{} ? std::optional(ticks) : std::nullopt;
}

std::optional<std::uint64_t> start_ticks(int pid) {
  return parse_start_ticks(text_of("/proc/" + std::to_string(pid) + "/stat").value_or(""));
}

std::string boot_id() {
  auto id = text_of("/proc/sys/kernel/random/boot_id").value_or("");
  id.erase(std::find(id.begin(), id.end(), '\n'), id.end());
  return id;
}

bool is_recorded_here(const std::string& path) {
  struct stat there {};
  return ::stat(path.c_str(), &there) == 0 && there.st_ino == recorded_inode &&
         there.st_dev == recorded_device;
}

}  // namespace xleak::monitor
