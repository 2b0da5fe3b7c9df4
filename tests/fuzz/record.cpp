// Whatever the file of a dead kernel holds, it is read as one or refused.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "flight_layout.hpp"
#include "flight_recorder.hpp"
#include "xleak/monitor/error.hpp"
#include "xleak/monitor/flight_record.hpp"

using namespace xleak::monitor;

namespace {

// The bytes of the input lie over those behind the version; all else is refused by its beginning.
constexpr std::size_t kBegin = offsetof(flight::Process, pid);

struct Record {
  Record() : fd(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    if (fd < 0 || ::ftruncate(fd, flight::kFileBytes) != 0) __builtin_trap();
    path = "/tmp/xleak-fuzz-record-" + std::to_string(::getpid());
    const auto opened = "/proc/self/fd/" + std::to_string(fd);
    ::unlink(path.c_str());
    if (::linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      __builtin_trap();
    }
  }
  ~Record() { ::unlink(path.c_str()); }

  int fd;
  std::string path;
};

void check(const FlightRecord& record) {
  if (!record.cell) return;
  double before = -1;
  for (const FlightSample& sample : record.cell->samples) {
    if (!(sample.seconds > before) || sample.resident_bytes < 0) __builtin_trap();
    before = sample.seconds;
  }
  if (record.cell->source.size() > kFlightSourceBytes) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Record record;
  flight::File file{};
  std::memcpy(file.process.magic, flight::kMagic, sizeof flight::kMagic);
  file.process.version = flight::kVersion;
  const auto most = sizeof file - kBegin;
  std::memcpy(reinterpret_cast<char*>(&file) + kBegin, data, std::min(size, most));
  // No input names the present start of the machine, and for another one nothing is counted.
  static const std::string boot = boot_id();
  if (size % 2 != 0) std::strncpy(file.process.boot_id, boot.c_str(), sizeof file.process.boot_id);
  if (::pwrite(record.fd, &file, sizeof file, 0) != sizeof file) __builtin_trap();
  try {
    check(read_flight_record(record.path));
    mark_flight_exit(record.path, static_cast<int>(size));
    mark_flight_told(record.path);
    const auto again = read_flight_record(record.path);
    if (!again.told || again.exit_status != static_cast<int>(size)) __builtin_trap();
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
