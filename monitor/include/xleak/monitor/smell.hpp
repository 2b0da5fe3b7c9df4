#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xleak::monitor {

enum class Severity { note, warning, error };
enum class Basis { source, measured };

/// A change of the source: bytes [start, stop) of a cell become `text`.
struct Edit {
  int cell = 0;
  std::uint32_t start = 0;
  std::uint32_t stop = 0;
  std::string text;
};

/// A repair. `code` of a run-fix gives the memory back when it runs as a cell; `edits` repair the
/// source.
struct Fix {
  std::string title;
  std::string code;
  std::vector<Edit> edits = {};
  bool safe = true;  ///< The edits change nothing but memory and time.
};

/// Lines of a cell, from 1, both ends included.
struct Lines {
  int cell = 0;
  int first = 0;
  int last = 0;
};

/// One leak: where, how much, held by what, and what to type next.
struct Finding {
  int cell = 0;                   ///< Index of the cell after which the leak is there.
  std::optional<int> cause_cell;  ///< Index of the guilty cell.
  std::optional<int> line;        ///< The guilty line of the cause cell, from 1.
  std::optional<std::int64_t> bytes;
  std::optional<std::string> name;
  std::vector<std::string> holders;
  std::vector<std::string> path;
  std::string message;
  std::vector<Fix> fixes;
  std::optional<Severity> severity;  ///< Where it differs from the smell's own.
  std::string key;  ///< What makes it the same finding on the next look, e.g. "Out[2]".
  Basis basis = Basis::measured;
  int column = 0;  ///< Of a finding from the source, from 1.
  /// From the source: what they take of a cell's time shows whether it matters.
  std::vector<Lines> timed_lines = {};
};

/// One entry of the shell's output cache, as measured.
struct OutputEntry {
  int number = 0;                 ///< The n of Out[n].
  std::optional<int> shown_cell;  ///< Index of the cell that displayed it.
  std::int64_t held_bytes = 0;    ///< What would come back with it, its graph included.
  bool mentioned = false;         ///< The session's source uses it by _, _N or Out[N].
  std::string type_name;
  std::vector<std::string> holders;  ///< "Out[2]", "_2", "__", …
  std::vector<int> together = {};    ///< Entries that lead to the same memory and have to go too.
  std::optional<int> line = std::nullopt;  ///< Of that cell, whose value it is.
};

/// What keeps memory that no name of the user's and no output entry reaches, as measured.
struct Holder {
  std::string kind;   ///< What it is: "traceback", "method cache", "figures".
  std::string label;  ///< In the words of the user: "the last traceback", "Volume.histogram".
  std::int64_t held_bytes = 0;
  std::optional<int> since_cell;  ///< Index of the cell that made it.
  std::string largest;            ///< The way to the largest object in it, or what its objects are.
  int count = 0;                  ///< How many objects of the user's it has, where that matters.
  std::string release;            ///< The code that lets go of them; empty where none is exact.
  std::int64_t shown_bytes = 0;   ///< Of views: what they show themselves.
  std::optional<int> line = std::nullopt;  ///< Of that cell, which made what is held.
};

/// What a cell did on a device. Empty is unknown.
struct DeviceCell {
  int cell = 0;
  std::optional<std::int64_t> before_bytes;  ///< Allocated when it began.
  std::optional<std::int64_t> peak_bytes;    ///< The most that was allocated at once, exact.
  std::optional<std::int64_t> after_bytes;
};

/// What the allocator of a device says after the last cell. Empty is unknown.
struct DeviceState {
  std::string device;  ///< As torch writes it, "cuda:0", or TensorFlow, "GPU:0".
  std::optional<std::int64_t> allocated_bytes;
  std::optional<std::int64_t> reserved_bytes;
  std::optional<std::int64_t> inactive_split_bytes;
  int idle_cells = 0;  ///< The user's cells in a row, to the last, that were given nothing there.
  std::optional<std::int64_t> total_bytes = std::nullopt;  ///< All that the framework can have.
  /// The last cell that was given something there.
  std::optional<DeviceCell> last_used = std::nullopt;
};

/// The facts that smells judge. Plain data: tests write it as a literal.
struct SessionView {
  int cell = 0;  ///< Index of the cell that just ended.
  /// Memory of the machine, or of its cgroup where that is less.
  std::optional<std::int64_t> ram_bytes;
  std::vector<OutputEntry> outputs;
  std::vector<Holder> holders;
  std::vector<DeviceState> devices;
};

class SourceView;

/// One bad pattern. Each folder of monitor/smells defines one. Either half may be absent.
struct Smell {
  const char* code;
  const char* slug;
  Severity severity;
  std::vector<Finding> (*at_run_time)(const SessionView&);
  std::vector<Finding> (*in_source)(const SourceView&) = nullptr;
};

}  // namespace xleak::monitor
