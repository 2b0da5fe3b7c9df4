#include "line_times.hpp"

#include <frameobject.h>

#include <memory>
#include <set>

namespace xleak::facts {
namespace {

Reference globals_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return Reference::steal(PyFrame_GetGlobals(frame));
#else
  return Reference::share(frame->f_globals);
#endif
}

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
  seconds_.clear();
  all_seconds_ = 0.0;
  last_ = Clock::now();
}

void LineTimes::beat() noexcept {
  if (asked_.exchange(true)) return;
  if (Py_AddPendingCall(&LineTimes::sample, this) != 0) asked_ = false;
}

// Python calls this between two instructions of the main thread.
int LineTimes::sample(void* self) {
  auto& times = *static_cast<LineTimes*>(self);
  times.asked_ = false;
  const auto now = Clock::now();
  times.count(std::chrono::duration<double>(now - std::exchange(times.last_, now)).count());
  return 0;
}

void LineTimes::count(double seconds) {
  all_seconds_ += seconds;
  std::set<std::pair<std::string, int>> places;
  auto frame = Reference::share(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame) {
    PyFrameObject* at = as_frame(frame);
    if (globals_of(at).get() == globals_.get()) {
      places.emplace(file_of(at), PyFrame_GetLineNumber(at));
    }
    frame = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  for (const auto& place : places) seconds_[place] += seconds;
}

std::pair<std::vector<LineTimes::Line>, double> LineTimes::times() const {
  std::vector<Line> lines;
  for (const auto& [place, seconds] : seconds_) {
    lines.push_back({place.first, place.second, seconds});
  }
  return {std::move(lines), all_seconds_};
}

}  // namespace xleak::facts
