#pragma once
#include <dirent.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "xleak/monitor/export.hpp"
#include "xleak/monitor/own_descriptor.hpp"

namespace xleak::monitor {

/// A descriptor of this process, and the file behind it.
struct OpenFile {
  int descriptor = 0;
  std::string path;
};

/// The files that this process has open under a name: no sockets, pipes, devices, shared memory,
/// and not what databases open and close at any time. Never any where there is no /proc.
class XLEAK_MONITOR_API OpenFiles {
 public:
  OpenFiles();
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// Whether others may be open than at the last call. Cheap where nothing came or went, for every
  /// cell asks.
  bool changed();

  /// As of the last change.
  const std::vector<OpenFile>& files() const { return files_; }

 private:
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  /// How many descriptors there are, and which.
  struct State {
    std::int64_t number = 0;
    int next = 0;  ///< The lowest that is free, always the next to be taken.
  };

  bool has_folder();
  State state() const;
  std::vector<int> numbers() const;
  bool is_as_before(const State& now) const;
  bool are_the_same() const;
  void read();

  std::unique_ptr<DIR, Close> folder_;
  FileIdentity folder_identity_;
  std::vector<OpenFile> files_;
  /// Sockets, pipes and the like that were open at the first reading: the process's own.
  std::optional<std::set<int>> permanent_;
  /// The others of the last reading. Another file may have taken the number of one since.
  std::map<int, FileIdentity> lasting_;
  /// Without what comes and goes; empty where that changed while the files were read.
  std::optional<State> state_;
};

}  // namespace xleak::monitor
