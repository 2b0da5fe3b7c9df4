#include "xleak/monitor/flight_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "flight_layout.hpp"
#include "flight_recorder.hpp"
#include "probes/oom_kills.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::monitor {
namespace {

using flight::kUnknown;

// Ten years: no cell is older, and no sum of such times overflows.
constexpr double kMostSeconds = 10.0 * 365 * 24 * 3600;
// More than any machine has; the difference of two such sizes does not overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

class Opened {
 public:
  Opened(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
    if (fd_ < 0) throw_errno("cannot open " + path);
  }
  ~Opened() { ::close(fd_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Error(path + " is no record of a kernel: " + why + ".");
}

std::unique_ptr<flight::File> content_of(int fd, const std::string& path) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) throw_errno("cannot read " + path);
  if (!S_ISREG(found.st_mode)) refuse(path, "it is no regular file");
  if (found.st_size != flight::kFileBytes) refuse(path, "it has another length");
  auto file = std::make_unique<flight::File>();
  const auto got = ::pread(fd, file.get(), sizeof *file, 0);
  if (got < 0) throw_errno("cannot read " + path);
  if (static_cast<std::size_t>(got) != sizeof *file) refuse(path, "it ends too soon");
  if (std::memcmp(file->process.magic, flight::kMagic, sizeof flight::kMagic) != 0) {
    refuse(path, "it begins otherwise");
  }
  if (file->process.version != flight::kVersion) {
    refuse(path, "it is of another version of xleak");
  }
  return file;
}

template <std::size_t N>
std::string text_in(const char (&field)[N]) {
  return {field, ::strnlen(field, N)};
}

std::optional<std::int64_t> size_in(std::int64_t field) {
  if (field < 0 || field > kMostBytes) return std::nullopt;
  return field;
}

// Before the year 9000, which every calendar can show.
double time_in(double field) { return field > 0 && field < 2.2e11 ? field : 0; }

template <class Slot>
bool is_whole(const Slot& slot) {
  return slot.before != 0 && slot.before == slot.after;
}

std::optional<FlightSample> sample_in(const flight::Sample& slot, std::uint64_t cell) {
  if (!is_whole(slot) || slot.cell != cell || !size_in(slot.resident_bytes)) return std::nullopt;
  if (!(slot.seconds >= 0 && slot.seconds <= kMostSeconds)) return std::nullopt;
  return FlightSample{slot.seconds, slot.resident_bytes, size_in(slot.available_bytes)};
}

std::vector<FlightSample> samples_of(const flight::File& file, std::uint64_t cell) {
  std::vector<FlightSample> samples;
  const auto take = [&](const flight::Sample& slot) {
    if (const auto sample = sample_in(slot, cell)) samples.push_back(*sample);
  };
  std::for_each(std::begin(file.history), std::end(file.history), take);
  std::for_each(std::begin(file.latest), std::end(file.latest), take);
  const auto earlier = [](const FlightSample& a, const FlightSample& b) {
    return a.seconds < b.seconds;
  };
  const auto same = [](const FlightSample& a, const FlightSample& b) {
    return a.seconds == b.seconds;
  };
  std::stable_sort(samples.begin(), samples.end(), earlier);
  samples.erase(std::unique(samples.begin(), samples.end(), same), samples.end());
  return samples;
}

std::optional<FlightCell> cell_of(const flight::File& file) {
  const flight::Cell* last = nullptr;
  for (const auto& slot : file.cells) {
    if (is_whole(slot) && slot.index > 0 && (last == nullptr || slot.before > last->before)) {
      last = &slot;
    }
  }
  if (last == nullptr) return std::nullopt;
  FlightCell cell;
  cell.index = last->index;
  if (last->execution_count > 0) cell.execution_count = last->execution_count;
  cell.cell_id = text_in(last->cell_id);
  cell.source = text_in(last->source).substr(0, kFlightSourceBytes);
  cell.running = last->running != 0;
  cell.began = time_in(last->began);
  cell.samples = samples_of(file, last->before);
  return cell;
}

bool is_locked(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool is_living(int fd, const flight::Process& process, bool same_boot) {
  if (is_locked(fd)) return true;
  return same_boot && process.pid > 0 && start_ticks(process.pid) == process.start_ticks;
}

std::int64_t or_unknown(const std::optional<std::int64_t>& count) {
  return count.value_or(kUnknown);
}

// Where the file cannot be written, the counts are those of now each time it is read.
void note_kills(const std::string& path, flight::Afterwards& afterwards, const OomKills& now) {
  afterwards.read = 1;
  afterwards.group_kills = or_unknown(now.group);
  afterwards.machine_kills = or_unknown(now.machine);
  try {
    const Opened file(path, O_WRONLY);
    static_cast<void>(
        !::pwrite(file.get(), &afterwards, sizeof afterwards, offsetof(flight::File, afterwards)));
  } catch (const Error&) {
    return;
  }
}

template <class Change>
void change_afterwards(const std::string& path, Change change) {
  const Opened file(path, O_RDWR);
  auto afterwards = content_of(file.get(), path)->afterwards;
  change(afterwards);
  const auto wrote =
      ::pwrite(file.get(), &afterwards, sizeof afterwards, offsetof(flight::File, afterwards));
  if (wrote < 0) throw_errno("cannot write " + path);
}

}  // namespace

FlightRecord read_flight_record(const std::string& path) {
  FlightRecord record;
  if (is_recorded_here(path)) {
    record.living = true;
    record.same_boot = true;
    record.pid = ::getpid();
    return record;
  }
  const Opened opened(path, O_RDONLY);
  const auto file = content_of(opened.get(), path);
  const auto& process = file->process;
  record.pid = process.pid;
  record.same_boot = text_in(process.boot_id) == boot_id();
  record.living = is_living(opened.get(), process, record.same_boot);
  record.started = time_in(process.started);
  record.identity = {text_in(process.connection_file), text_in(process.folder),
                     text_in(process.versions)};
  record.cell = cell_of(*file);
  record.limit_bytes = size_in(process.limit_bytes);
  record.limit_is_group = process.limit_is_group != 0;
  record.kills_before = {size_in(process.group_kills), size_in(process.machine_kills)};
  record.asked_to_end = process.asked_to_end != 0;
  auto afterwards = file->afterwards;
  if (!record.living && record.same_boot && afterwards.read == 0) {
    note_kills(path, afterwards, oom_kills(text_in(process.group_kills_file)));
  }
  if (afterwards.read != 0) {
    record.kills_after = {size_in(afterwards.group_kills), size_in(afterwards.machine_kills)};
  }
  record.told = afterwards.told != 0;
  if (afterwards.exit_is_known != 0) record.exit_status = afterwards.exit_status;
  return record;
}

void mark_flight_told(const std::string& path) {
  change_afterwards(path, [](flight::Afterwards& afterwards) { afterwards.told = 1; });
}

void mark_flight_exit(const std::string& path, int exit_status) {
  change_afterwards(path, [exit_status](flight::Afterwards& afterwards) {
    afterwards.exit_is_known = 1;
    afterwards.exit_status = exit_status;
  });
}

}  // namespace xleak::monitor
