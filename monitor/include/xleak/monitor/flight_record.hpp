#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

/// How much of a cell's source is kept, in bytes.
constexpr std::size_t kFlightSourceBytes = 200;

/// Who a process is, as its record says. A text that is too long for the file is left out.
struct FlightIdentity {
  std::string connection_file;  ///< Of a kernel; empty where there is none.
  std::string folder;           ///< Where it works.
  std::string versions;         ///< For a person: "xleak 0.1.0, Python 3.11.7".
};

/// One size of the process since the cell began.
struct FlightSample {
  double seconds = 0;  ///< Since the cell began.
  std::int64_t resident_bytes = 0;
  /// What was left below the limit; empty where it was not asked for.
  std::optional<std::int64_t> available_bytes;
};

/// The cell that began last.
struct FlightCell {
  int index = 0;
  std::optional<int> execution_count;
  std::string cell_id;   ///< Empty where the front end sent none.
  std::string source;    ///< Its first bytes, as UTF-8 that may end within a character.
  bool running = false;  ///< It had not ended when the process did.
  double began = 0;      ///< Seconds since 1970.
  /// The first is its beginning; the last may be of after its end.
  std::vector<FlightSample> samples;
};

/// How often the out-of-memory killer ended a process; empty where nobody counts.
struct OomKills {
  std::optional<std::int64_t> group;    ///< In the control group.
  std::optional<std::int64_t> machine;  ///< On the whole machine since it started.
};

/// What the file of a process says.
struct FlightRecord {
  int pid = 0;
  bool living = false;
  bool same_boot = false;  ///< The machine has not restarted since.
  double started = 0;      ///< Seconds since 1970.
  FlightIdentity identity;
  std::optional<FlightCell> cell;
  std::optional<std::int64_t> limit_bytes;
  bool limit_is_group = false;  ///< A control group's; else it is all memory of the machine.
  OomKills kills_before;        ///< While the process still ran.
  OomKills kills_after;         ///< When its record was first read after its end.
  bool asked_to_end = false;    ///< A front end had asked the kernel to shut down.
  bool told = false;
  std::optional<int> exit_status;  ///< As wait(2)'s caller saw it: negative is a signal.
};

/// Reads a record; every byte of the file is taken for hostile. The first reading after the end of
/// the process keeps in the file how often the out-of-memory killer has struck by then.
/// Throws Error, also for a file that is no record.
XLEAK_MONITOR_API FlightRecord read_flight_record(const std::string& path);

/// The next session has told of it.
XLEAK_MONITOR_API void mark_flight_told(const std::string& path);
/// How the process ended, by who waited for it.
XLEAK_MONITOR_API void mark_flight_exit(const std::string& path, int exit_status);

}  // namespace xleak::monitor
