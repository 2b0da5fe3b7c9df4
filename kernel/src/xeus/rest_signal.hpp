#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace xleak::kernel {

/// The main thread says when it serves requests, and when it waits for one.
void note_rest(bool rests) noexcept;

/// Like threading.Event, for work beside the cells that needs the GIL: who waits is woken once the
/// kernel waits for a request, since a cell would else stand still for it. In a long cell it is
/// woken all the same.
class RestSignal {
 public:
  /// longest: how long a cell may keep it waiting. Most have ended within 10 milliseconds, and who
  /// looks at the work from outside does not see the difference.
  explicit RestSignal(std::chrono::milliseconds longest = std::chrono::milliseconds(10))
      : longest_(longest) {}

  /// at_once: wake up whatever the kernel does.
  void set(bool at_once);
  void clear();
  /// Call it without the GIL.
  void wait();

 private:
  const std::chrono::milliseconds longest_;
  bool is_set_ = false;
  bool at_once_ = false;
};

}  // namespace xleak::kernel
