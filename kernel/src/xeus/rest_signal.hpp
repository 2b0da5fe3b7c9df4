#pragma once
#include <condition_variable>
#include <mutex>

namespace xleak::kernel {

/// The main thread says when it serves requests, and when it waits for one.
void note_rest(bool rests) noexcept;

/// Like threading.Event, for work beside the cells that needs the GIL: who waits is woken once the
/// kernel waits for a request, since a cell would else stand still for it. After 10 milliseconds of
/// a cell it is woken all the same.
class RestSignal {
 public:
  /// at_once: wake up whatever the kernel does.
  void set(bool at_once);
  void clear();
  /// Call it without the GIL.
  void wait();

 private:
  bool is_set_ = false;
  bool at_once_ = false;
};

}  // namespace xleak::kernel
