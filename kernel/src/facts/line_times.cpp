#include "line_times.hpp"

#include <pthread.h>

#include <memory>
#include <set>
#include <system_error>

#include "collector_paused.hpp"
#include "python_versions.hpp"

namespace xleak::facts {
namespace {

std::string file_of(PyFrameObject* frame) {
  const Reference code = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const char* name = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code.get())->co_filename);
  if (name == nullptr) PyErr_Clear();
  return name == nullptr ? "" : name;
}

PyFrameObject* as_frame(const Reference& frame) {
  return reinterpret_cast<PyFrameObject*>(frame.get());
}

}  // namespace

LineTimes& LineTimes::instance() {
  static LineTimes* const times = std::make_unique<LineTimes>().release();
  return *times;
}

void LineTimes::begin() {
  thread_ = PyThreadState_Get();
  seconds_.clear();
  all_seconds_ = 0.0;
  last_ = last_call_ = Clock::now();
}

void LineTimes::call(PyObject* hook, double every_seconds) {
  hook_ = Reference::share(hook);
  between_calls_ =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(every_seconds));
}

void LineTimes::beat() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!sampler_.joinable()) sampler_ = std::thread(&LineTimes::run, this);
    has_beat_ = true;
    beaten_.notify_one();
  } catch (const std::system_error&) {
    return;  // No thread can be had now.
  }
}

void LineTimes::run() {
  ::pthread_setname_np(::pthread_self(), "xleak-lines");
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      beaten_.wait(lock, [this] { return has_beat_; });
      has_beat_ = false;
    }
    // Python ends a thread that asks for the GIL now.
    if (is_finalizing()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    sample();
    PyGILState_Release(state);
  }
}

void LineTimes::sample() {
  if (!thread_is_there()) return;
  const CollectorPaused paused;
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  all_seconds_ += seconds;
  std::set<std::pair<std::string, int>> places;
  auto frame = Reference::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread_)));
  while (frame) {
    PyFrameObject* at = as_frame(frame);
    if (globals_of(at).get() == globals_.get()) {
      places.emplace(file_of(at), PyFrame_GetLineNumber(at));
    }
    frame = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  for (const auto& place : places) seconds_[place] += seconds;
  if (!hook_ || now - last_call_ < between_calls_) return;
  last_call_ = now;
  Py_AddPendingCall(&LineTimes::call_hook, this);
}

bool LineTimes::thread_is_there() const {
  PyThreadState* at = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  while (at != nullptr && at != thread_) at = PyThreadState_Next(at);
  return at != nullptr;
}

// Python calls this between two instructions of the main thread.
int LineTimes::call_hook(void* self) {
  const auto& times = *static_cast<LineTimes*>(self);
  return Reference::steal(PyObject_CallNoArgs(times.hook_.get())) ? 0 : -1;
}

std::pair<std::vector<LineTimes::Line>, double> LineTimes::times() const {
  std::vector<Line> lines;
  for (const auto& [place, seconds] : seconds_) {
    lines.push_back({place.first, place.second, seconds});
  }
  return {std::move(lines), all_seconds_};
}

}  // namespace xleak::facts
