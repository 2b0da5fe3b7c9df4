#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flight_layout.hpp"
#include "probes/limits.hpp"
#include "probes/oom_kills.hpp"
#include "xleak/monitor/flight_record.hpp"
#include "xleak/monitor/own_descriptor.hpp"

namespace xleak::monitor {

/// What a recorder asks of the machine; tests bring their own.
struct FlightProbes {
  /// The limit with the least left below it.
  std::function<std::optional<LimitReading>()> limit =
      [shared = std::make_shared<const SharedLimits>()] { return shared->tightest(); };
  std::function<OomKills()> kills = [file = group_kills_file()] { return oom_kills(file); };
  std::function<std::chrono::nanoseconds()> now = [] {
    return std::chrono::steady_clock::now().time_since_epoch();
  };
};

/// Writes the record of this process: into a mapped file, whose pages outlive a SIGKILL. Safe to
/// use from every thread, but not in a forked child.
class FlightRecorder {
 public:
  /// Makes the file, of mode 0600. Throws Error where it cannot be made or the disk is full.
  FlightRecorder(std::string path, const FlightIdentity& identity, FlightProbes probes = {});
  /// Leaves the file as it is.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// What the next cell is; `source` is cut.
  void announce(std::string_view source, std::optional<int> execution_count);
  /// A cell begins, in place of the one before it.
  void begin(int index, std::string_view cell_id, std::optional<std::int64_t> resident_bytes);
  /// A size while it runs. Now and then asks the machine too; for one thread alone.
  void sample(std::int64_t resident_bytes);
  /// A size while no cell runs, after the last of them; kept where it or what is left moved by
  /// 16 MiB. Asks the machine too; for one thread alone.
  void rest(std::int64_t resident_bytes);
  /// It has ended; another index than that of the last cell is left alone. In the file it runs on:
  /// what it did to the process may end that before its reply is sent.
  void end(int index);
  /// The cell that has ended is over in the file, too.
  void answered();
  /// A front end has asked the process to end.
  void asked_to_end() noexcept;
  /// Deletes the file.
  void remove() noexcept;

 private:
  std::chrono::nanoseconds age() const { return probes_.now() - began_; }
  void fill(const FlightIdentity& identity);
  void write_cell();
  void write_latest(std::int64_t resident_bytes, std::chrono::nanoseconds at);
  void write_history(std::int64_t resident_bytes, std::chrono::nanoseconds at);
  void ask_machine();
  std::size_t next_history_slot();
  flight::Sample sample_of(std::int64_t resident_bytes, std::chrono::nanoseconds at) const;

  std::string path_;
  FlightProbes probes_;
  std::mutex mutex_;
  OwnDescriptor file_descriptor_;
  flight::File* file_ = nullptr;
  std::uint64_t number_ = 0;  ///< Of the slot that was written last, of any kind.
  std::size_t turn_ = 0;      ///< Of the two latest samples, the one that was written last.
  flight::Cell announced_{};
  flight::Cell cell_{};
  std::uint64_t cell_number_ = 0;
  std::chrono::nanoseconds began_{0};
  std::optional<std::int64_t> available_bytes_;
  std::optional<std::chrono::nanoseconds> machine_asked_;
  std::chrono::nanoseconds interval_{0};
  std::chrono::nanoseconds last_in_history_{0};
  std::vector<std::uint16_t> history_;  ///< Slots in the order of their time.
  std::vector<std::uint16_t> free_;
};

/// When a process started, in ticks since the machine did: of the text of /proc/<pid>/stat. Empty
/// where it is malformed, or of a process that has ended and was not waited for.
std::optional<std::uint64_t> parse_start_ticks(std::string_view text);
/// The same of a process; empty where it does not run.
std::optional<std::uint64_t> start_ticks(int pid);
/// Changes with every start of the machine.
std::string boot_id();
/// Whether this process writes the file; to open and close it would end its lock.
bool is_recorded_here(const std::string& path);

}  // namespace xleak::monitor
