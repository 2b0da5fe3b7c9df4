#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "probes/limits.hpp"
#include "xleak/monitor/guard.hpp"

namespace xleak::monitor {

/// What follows from readings: levels, what is to be told, and whether a cell is to be stopped.
/// Not locked.
class GuardLevels {
 public:
  /// Tells who, besides this process, holds most of what counts against a limit.
  using FindOther = std::function<std::optional<OtherProcess>(const LimitReading&)>;

  explicit GuardLevels(FindOther find_other) : find_other_(std::move(find_other)) {}

  struct Told {
    std::vector<GuardNote> changes;  ///< Of levels.
    std::vector<GuardNote> lines;    ///< To be read under the cell.
  };

  /// `own` and `devices`: as the cell finds them.
  void begin_cell(int index, const std::optional<OwnMemory>& own,
                  const std::vector<DeviceReading>& devices, double seconds);
  void end_cell(int index);
  Told observe(const std::vector<LimitReading>& readings, double seconds);

  bool runs_cell() const noexcept { return !cells_.empty(); }
  /// Empty unless the cell's own growth has brought memory to the critical level.
  const std::optional<GuardNote>& reason_to_stop() const noexcept { return reason_; }
  void stopped() noexcept;

  /// How far this process, which holds `own`, may grow until there is something to tell.
  std::int64_t distance_bytes(const OwnMemory& own) const;
  /// True where memory is short, and whether it had got shorter by a mebibyte at the last look.
  bool is_near() const;
  bool is_growing() const noexcept { return is_growing_; }
  std::vector<LimitState> states() const;
  /// Of each limit that is near, as when it came to its level.
  std::vector<GuardNote> near_limits() const;

 private:
  struct Cell {
    int index;
    double since;
    std::optional<OwnMemory> own;
    std::vector<DeviceReading> devices;
    bool growth_is_told = false;
    /// Levels that stand under the cell, by limit.
    std::set<std::pair<std::string, GuardLevel>> told;
  };
  struct Track {
    LimitReading reading;
    GuardLevel level = GuardLevel::normal;
    std::optional<double> calm_since;
    std::int64_t others_before_bytes = 0;  ///< When the cell began.
    std::optional<std::int64_t> free_when_stopped = {};
    std::optional<OtherProcess> other = {};
    std::optional<double> other_sought = {};  ///< When.
  };

  void forget_missing(const std::vector<LimitReading>& readings, Told& told);
  Track& track_of(const LimitReading& reading);
  std::optional<std::int64_t> growth_of(const LimitReading& reading) const;
  /// Whether the level changed.
  bool move_level(Track& track, double seconds) const;
  bool is_caused_by_cell(const Track& track) const;
  bool may_stop(const Track& track) const;
  void seek_other(Track& track, double seconds) const;
  GuardNote note_of(const Track& track) const;
  std::optional<GuardNote> long_growth(double seconds);
  std::int64_t worth_a_notice() const;

  FindOther find_other_;
  std::vector<Track> tracks_;
  std::vector<Cell> cells_;
  std::optional<GuardNote> reason_;
  bool is_growing_ = false;
};

/// Whether others may hold a part of what counts: of the machine and a cgroup.
bool is_shared(const LimitReading& reading);
/// That part; none where it is not known.
std::int64_t others_bytes(const LimitReading& reading);

/// "2 GiB of the machine's 24 GiB are in use".
std::string used_of_limit(const LimitReading& reading);
/// What is to be read of a level: what is used of which limit, who has it, what follows.
std::string sentence_of(const LimitReading& reading, GuardLevel level,
                        std::optional<std::int64_t> grown_bytes,
                        const std::optional<OtherProcess>& other);

}  // namespace xleak::monitor
