#pragma once
#include <sys/stat.h>

#include "xleak/monitor/export.hpp"

namespace xleak::monitor {

/// What a descriptor stands for. All zero where it is closed.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity& other) const {
    return device == other.device && inode == other.inode;
  }
};

XLEAK_MONITOR_API FileIdentity identity_of(int descriptor) noexcept;

/// A descriptor of xleak's that user code may have closed, as `os.closerange(3, 100)` does: its
/// number may then be that of a file of the user's, which is neither read, written nor closed.
/// Linux gives all eventfds and the like one identity: those of the user's are taken for our own.
class XLEAK_MONITOR_API OwnDescriptor {
 public:
  OwnDescriptor() = default;
  /// Takes over an open descriptor; a negative number is none.
  explicit OwnDescriptor(int number) noexcept;
  ~OwnDescriptor();
  OwnDescriptor(OwnDescriptor&& other) noexcept;
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept;
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  /// Its number, or -1 where that stands for something else, or for nothing. Asked for each use.
  int number() const noexcept;
  void close() noexcept;

 private:
  int number_ = -1;
  FileIdentity identity_;
};

}  // namespace xleak::monitor
