#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace xleak::monitor {

/// Follows the resident size while cells run, on a thread of its own that needs no Python lock and
/// takes no signals but its timer's. The thread starts with the first cell and is not woken between
/// cells, nor by a cell of less than 4 ms. Not to be used in a forked child, where the thread does
/// not exist.
class PeakSampler {
 public:
  using Read = std::function<std::optional<std::int64_t>()>;
  /// Gets the youngest cell, how long it has run, and a sample in bytes.
  using Tell = std::function<void(int cell, double seconds, std::int64_t bytes)>;

  /// `read` gives bytes and is called by the thread; it must outlive this object.
  explicit PeakSampler(Read read);
  ~PeakSampler();
  PeakSampler(const PeakSampler&) = delete;
  PeakSampler& operator=(const PeakSampler&) = delete;

  /// Begins to follow a cell. Throws std::system_error where no thread can be had.
  void start(int cell);
  /// The highest sample since start; empty when there was none. Never waits for a sample.
  std::optional<std::int64_t> stop(int cell);
  /// From now on a cell that has run for 250 ms is told, and again every 250 ms; by the thread,
  /// which holds no lock meanwhile. An empty function ends it. `tell` must not throw.
  void follow(Tell tell);
  /// From now on called every 50 ms while a cell runs that has run for 100 ms; by the thread, which
  /// holds no lock meanwhile. An empty function ends it. `beat` must not throw.
  void beat_by(std::function<void()> beat);
  /// True while the thread waits for a cell, or was never needed.
  bool parked() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xleak::monitor
