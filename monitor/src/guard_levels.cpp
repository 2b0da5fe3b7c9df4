#include "guard_levels.hpp"

#include <algorithm>
#include <utility>

#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// A tenth is where earlyoom(1) starts to end processes; memory is touched at some GiB a second, so
// that a GiB is time enough to stop a cell, and of a large machine a tenth would be wasted.
constexpr std::int64_t kCriticalShare = 10;
constexpr std::int64_t kCriticalMostBytes = kGiB;
// Twice as far away on a small machine; on a large one a loop has seconds left.
constexpr std::int64_t kWarningShare = 5;
constexpr std::int64_t kWarningMostBytes = 4 * kGiB;
// A level ends a quarter of its threshold further away, and once that lasted: a training step takes
// and gives back the same memory many times a second.
constexpr std::int64_t kHysteresisShare = 4;
constexpr double kCalmSeconds = 2.0;
// What has grown by less did not bring memory to its end.
constexpr std::int64_t kGrownShare = 100;
constexpr std::int64_t kGrownMostBytes = 64 * kMiB;
// A cell that was stopped and goes on growing is stopped again each time that half of the rest is
// gone.
constexpr std::int64_t kAgainShare = 2;
// Who else holds memory is found by a look at all processes.
constexpr double kBetweenSearchesSeconds = 1.0;
// Who waits for a cell of less sees its end sooner than a line is read.
constexpr double kLongCellSeconds = 5.0;
constexpr std::int64_t kNoticeShare = 10;
constexpr std::int64_t kNoticeMostBytes = kGiB;

std::int64_t free_bytes(const LimitReading& it) { return it.limit_bytes - it.used_bytes; }

std::int64_t critical_free(const LimitReading& it) {
  return std::min(it.limit_bytes / kCriticalShare, kCriticalMostBytes);
}

std::int64_t warning_free(const LimitReading& it) {
  return std::min(it.limit_bytes / kWarningShare, kWarningMostBytes);
}

std::int64_t with_hysteresis(std::int64_t threshold) {
  return threshold + threshold / kHysteresisShare;
}

GuardLevel level_of(const LimitReading& it) {
  if (free_bytes(it) < critical_free(it)) return GuardLevel::critical;
  return free_bytes(it) < warning_free(it) ? GuardLevel::warning : GuardLevel::normal;
}

/// The level that a reading falls to from `level`: its own only when it is well away.
GuardLevel fallen_level(const LimitReading& it, GuardLevel level) {
  const auto free = free_bytes(it);
  if (level == GuardLevel::critical && free < with_hysteresis(critical_free(it))) return level;
  if (free >= with_hysteresis(warning_free(it))) return GuardLevel::normal;
  return std::min(level, GuardLevel::warning);
}

// A card that is full fails an allocation and kills nothing, and trainings fill it on purpose.
bool ends_process(const LimitReading& it) { return it.limit != GuardLimit::device; }

/// What counts of this process against a limit of the host's.
std::int64_t own_of(GuardLimit limit, const OwnMemory& own) {
  if (limit == GuardLimit::address_space) return own.size_bytes;
  return limit == GuardLimit::data ? own.data_bytes : own.held_bytes;
}

std::string key_of(const LimitReading& it) {
  return it.device + std::to_string(static_cast<int>(it.limit));
}

}  // namespace

// Of the machine and a cgroup others may hold a part.
bool is_shared(const LimitReading& it) {
  return it.limit == GuardLimit::machine || it.limit == GuardLimit::cgroup;
}

std::int64_t others_bytes(const LimitReading& it) {
  return is_shared(it) ? std::max<std::int64_t>(0, it.used_bytes - it.own_bytes) : 0;
}

// --- cells -------------------------------------------------------------------------------------

void GuardLevels::begin_cell(int index, const std::optional<OwnMemory>& own,
                             const std::vector<DeviceReading>& devices, double seconds) {
  reason_.reset();
  for (Track& track : tracks_) {
    track.others_before_bytes = others_bytes(track.reading);
    track.free_when_stopped.reset();
  }
  cells_.push_back({index, seconds, own, devices, false, {}});
}

void GuardLevels::end_cell(int index) {
  reason_.reset();
  cells_.erase(std::remove_if(cells_.begin(), cells_.end(),
                              [index](const Cell& cell) { return cell.index == index; }),
               cells_.end());
}

void GuardLevels::stopped() noexcept {
  reason_.reset();
  for (Track& track : tracks_) {
    if (level_of(track.reading) != GuardLevel::critical) continue;
    track.free_when_stopped = free_bytes(track.reading);
  }
}

std::optional<std::int64_t> GuardLevels::growth_of(const LimitReading& reading) const {
  if (cells_.empty()) return std::nullopt;
  const Cell& cell = cells_.back();
  if (reading.limit == GuardLimit::device) {
    for (const DeviceReading& it : cell.devices) {
      if (it.device == reading.device && it.allocated_bytes) {
        return reading.own_bytes - *it.allocated_bytes;
      }
    }
    return std::nullopt;
  }
  if (!cell.own) return std::nullopt;
  return reading.own_bytes - own_of(reading.limit, *cell.own);
}

// --- levels ------------------------------------------------------------------------------------

GuardLevels::Told GuardLevels::observe(const std::vector<LimitReading>& readings, double seconds) {
  Told told;
  is_growing_ = false;
  reason_.reset();
  for (const LimitReading& reading : readings) {
    if (reading.limit_bytes <= 0) continue;
    Track& track = track_of(reading);
    // Something of a machine's always is.
    is_growing_ |=
        track.level != GuardLevel::normal && reading.used_bytes - track.reading.used_bytes >= kMiB;
    track.reading = reading;
    const auto before = track.level;
    const bool is_moved = move_level(track, seconds);
    seek_other(track, seconds);
    if (is_moved) {
      told.changes.push_back(note_of(track));
      const bool is_new =
          cells_.empty() || cells_.back().told.emplace(key_of(reading), track.level).second;
      if (track.level > before && is_new) told.lines.push_back(told.changes.back());
    }
    if (free_bytes(reading) >= with_hysteresis(critical_free(reading))) {
      track.free_when_stopped.reset();
    }
    if (!reason_ && may_stop(track) && is_caused_by_cell(track)) {
      reason_ = note_of(track);
      reason_->again = track.free_when_stopped.has_value();
    }
  }
  forget_missing(readings, told);
  if (auto notice = long_growth(seconds)) told.lines.push_back(*std::move(notice));
  return told;
}

// A limit can be lifted, and a device be let go of.
void GuardLevels::forget_missing(const std::vector<LimitReading>& readings, Told& told) {
  const auto is_missing = [&readings](const Track& track) {
    return std::none_of(readings.begin(), readings.end(), [&track](const LimitReading& it) {
      return key_of(it) == key_of(track.reading);
    });
  };
  for (Track& track : tracks_) {
    if (!is_missing(track) ||
        std::exchange(track.level, GuardLevel::normal) == GuardLevel::normal) {
      continue;
    }
    told.changes.push_back(note_of(track));
    told.changes.back().sentence = "A limit of memory that was near is no longer there.";
  }
  tracks_.erase(std::remove_if(tracks_.begin(), tracks_.end(), is_missing), tracks_.end());
}

GuardLevels::Track& GuardLevels::track_of(const LimitReading& reading) {
  for (Track& track : tracks_) {
    if (key_of(track.reading) == key_of(reading)) return track;
  }
  Track track;
  track.reading = reading;
  track.others_before_bytes = others_bytes(reading);
  tracks_.push_back(std::move(track));
  return tracks_.back();
}

bool GuardLevels::move_level(Track& track, double seconds) const {
  const auto now = level_of(track.reading);
  if (now >= track.level) {
    track.calm_since.reset();
    return std::exchange(track.level, now) != now;
  }
  const auto fallen = fallen_level(track.reading, track.level);
  if (fallen == track.level) {
    track.calm_since.reset();
    return false;
  }
  if (!track.calm_since) track.calm_since = seconds;
  if (seconds - *track.calm_since < kCalmSeconds) return false;
  track.calm_since.reset();
  track.level = fallen;
  return true;
}

// To stop a cell helps where the cell itself has grown, more than all others together, and where
// this process has most of what is used or would not be short of memory without the cell.
bool GuardLevels::is_caused_by_cell(const Track& track) const {
  const LimitReading& it = track.reading;
  const auto grown = growth_of(it);
  if (!ends_process(it) || !grown || level_of(it) != GuardLevel::critical) return false;
  if (*grown < std::min(it.limit_bytes / kGrownShare, kGrownMostBytes)) return false;
  const auto others = others_bytes(it);
  if (*grown < others - track.others_before_bytes) return false;
  return it.own_bytes >= others || free_bytes(it) + *grown >= critical_free(it);
}

// Who catches the error may need some memory to clean up.
bool GuardLevels::may_stop(const Track& track) const {
  return !track.free_when_stopped ||
         free_bytes(track.reading) < *track.free_when_stopped / kAgainShare;
}

void GuardLevels::seek_other(Track& track, double seconds) const {
  if (track.level == GuardLevel::normal || others_bytes(track.reading) <= track.reading.own_bytes) {
    track.other_sought.reset();
    return;
  }
  if (track.other_sought && seconds - *track.other_sought < kBetweenSearchesSeconds) return;
  track.other = find_other_(track.reading);
  track.other_sought = seconds;
}

GuardNote GuardLevels::note_of(const Track& track) const {
  GuardNote note{track.reading,
                 track.level,
                 cells_.empty() ? 0 : cells_.back().index,
                 growth_of(track.reading),
                 {}};
  note.sentence = sentence_of(note.reading, note.level, note.grown_bytes, track.other);
  return note;
}

// --- long cells --------------------------------------------------------------------------------

std::int64_t GuardLevels::worth_a_notice() const {
  std::int64_t least = kNoticeMostBytes;
  for (const Track& track : tracks_) {
    if (track.reading.limit == GuardLimit::device) continue;
    least = std::min(least, track.reading.limit_bytes / kNoticeShare);
  }
  return least;
}

std::optional<GuardNote> GuardLevels::long_growth(double seconds) {
  if (cells_.empty() || cells_.back().growth_is_told) return std::nullopt;
  Cell& cell = cells_.back();
  const double ran = seconds - cell.since;
  if (ran < kLongCellSeconds) return std::nullopt;
  for (const Track& track : tracks_) {
    const LimitReading& it = track.reading;
    const bool is_device = it.limit == GuardLimit::device;
    // Address space that is reserved is not yet memory.
    if (!is_device && !is_shared(it)) continue;
    const auto grown = growth_of(it);
    const auto least =
        is_device ? std::min(it.limit_bytes / kNoticeShare, kNoticeMostBytes) : worth_a_notice();
    if (!grown || *grown < least) continue;
    cell.growth_is_told = true;
    const auto where = is_device ? " on " + it.device : std::string();
    return GuardNote{it, track.level, cell.index, grown,
                     "This cell has grown by " + human(*grown) + where + " in " +
                         std::to_string(static_cast<int>(ran)) + " s so far; " + used_of_limit(it) +
                         "."};
  }
  return std::nullopt;
}

// --- how often to look -------------------------------------------------------------------------

std::int64_t GuardLevels::distance_bytes(const OwnMemory& own) const {
  std::int64_t least =
      cells_.empty() || cells_.back().growth_is_told ? kNoticeMostBytes : worth_a_notice();
  for (const Track& track : tracks_) {
    const LimitReading& it = track.reading;
    if (it.limit == GuardLimit::device) continue;
    // As far as it has grown since the last look.
    const auto free = free_bytes(it) - (own_of(it.limit, own) - it.own_bytes);
    const auto next = free > warning_free(it) ? warning_free(it) : critical_free(it);
    least = std::min(least, free - next);
  }
  return least;
}

bool GuardLevels::is_near() const {
  return std::any_of(tracks_.begin(), tracks_.end(),
                     [](const Track& track) { return track.level != GuardLevel::normal; });
}

std::vector<GuardNote> GuardLevels::near_limits() const {
  std::vector<GuardNote> notes;
  for (const Track& track : tracks_) {
    if (track.level != GuardLevel::normal) notes.push_back(note_of(track));
  }
  return notes;
}

std::vector<LimitState> GuardLevels::states() const {
  std::vector<LimitState> states;
  for (const Track& track : tracks_) {
    const LimitReading& it = track.reading;
    states.push_back(
        {it, track.level, it.limit_bytes - warning_free(it), it.limit_bytes - critical_free(it)});
  }
  return states;
}

}  // namespace xleak::monitor
