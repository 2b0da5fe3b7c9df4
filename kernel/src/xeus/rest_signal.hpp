#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace xleak::kernel {

/// The main thread says when it serves requests, and when it waits for one.
void note_rest(bool rests) noexcept;

/// Like threading.Event, for work beside the cells that needs the GIL: who waits is woken once no
/// request has come for some milliseconds, since a cell would else stand still for it. In a long
/// cell, and where one cell follows another, it is woken all the same.
class RestSignal {
 public:
  /// quiet: how long no request has to come; a client that sends one cell after another sends the
  /// next one sooner. longest: how long cells may keep it waiting, which is how much of the work a
  /// kernel that is killed leaves undone.
  explicit RestSignal(std::chrono::milliseconds quiet = std::chrono::milliseconds(50),
                      std::chrono::milliseconds longest = std::chrono::milliseconds(500))
      : quiet_(quiet), longest_(longest) {}

  /// at_once: wake up whatever the kernel does.
  void set(bool at_once);
  void clear();
  /// Call it without the GIL.
  void wait();

 private:
  const std::chrono::milliseconds quiet_;
  const std::chrono::milliseconds longest_;
  bool is_set_ = false;
  bool at_once_ = false;
};

}  // namespace xleak::kernel
