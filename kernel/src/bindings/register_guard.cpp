#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <tuple>

#include "bindings/register.hpp"
#include "facts/line_times.hpp"
#include "facts/reference.hpp"
#include "xleak/monitor/guard.hpp"
#include "xleak/monitor/session.hpp"

namespace py = pybind11;
using namespace xleak::monitor;

namespace xleak::bindings {
namespace {

using facts::Reference;

GuardPolicy policy_of(const std::string& name) {
  if (name == "off") return GuardPolicy::off;
  if (name == "warn") return GuardPolicy::warn;
  if (name == "interrupt") return GuardPolicy::interrupt;
  throw py::value_error("the guard's policy is 'off', 'warn' or 'interrupt', not '" + name + "'");
}

// From an event loop's own code to that of the cell it is some ten calls.
constexpr int kTries = 64;

/// Calls a function of Python's on the main thread between two instructions, whichever code they
/// are of. An exception that it returns is raised there, without a frame of its own; where it
/// returns True, it is called again in the functions that run next.
class MainThreadCall {
 public:
  static MainThreadCall& instance() {
    static MainThreadCall* const call = std::make_unique<MainThreadCall>().release();
    return *call;
  }

  void by(const py::object& hook) { hook_ = Reference::share(hook.ptr()); }

  /// Any thread, without the GIL. One that was asked for and not made yet is enough.
  void ask() noexcept {
    if (!Py_IsInitialized() || asked_.exchange(true)) return;
    tries_ = kTries;
    if (Py_AddPendingCall(&MainThreadCall::make, this) != 0) asked_ = false;
    // Until Python 3.13 the main thread sees what others ask of it only once it has taken the GIL
    // again; a thread that samples its lines makes it give that up.
    facts::LineTimes::instance().beat();
  }

 private:
  static int make(void* self) {
    auto& call = *static_cast<MainThreadCall*>(self);
    call.asked_ = false;
    const auto frame =
        Reference::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
    // Python makes a call that is asked for within one at once, up to 32 times.
    if (frame.get() == call.frame_ && call.tries_ > 0) return call.ask_again();
    const Reference hook = Reference::share(call.hook_.get());
    const Reference result = Reference::steal(PyObject_CallNoArgs(hook.get()));
    if (!result) return -1;
    call.frame_ = result.get() == Py_True ? frame.get() : nullptr;
    if (call.frame_ != nullptr && --call.tries_ > 0) return call.ask_again();
    if (!PyExceptionInstance_Check(result.get())) return 0;
    PyErr_SetObject(PyExceptionInstance_Class(result.get()), result.get());
    return -1;
  }

  int ask_again() noexcept {
    asked_ = Py_AddPendingCall(&MainThreadCall::make, this) == 0;
    return 0;
  }

  Reference hook_;
  std::atomic<bool> asked_{false};
  std::atomic<int> tries_{0};
  const void* frame_ = nullptr;  ///< Where it was told to call again; to compare alone.
};

void call_guard(const py::object& hook) {
  MainThreadCall::instance().by(hook);
  Session::instance().guard().call_main_by([] { MainThreadCall::instance().ask(); });
}

std::vector<std::tuple<const char*, std::int64_t, std::int64_t>> host_limits() {
  std::vector<std::tuple<const char*, std::int64_t, std::int64_t>> limits;
  for (const LimitReading& it : read_host_limits()) {
    limits.emplace_back(name_of(it.limit), it.used_bytes, it.limit_bytes);
  }
  return limits;
}

}  // namespace

void register_guard(py::module_& m) {
  py::class_<GuardNote>(m, "GuardNote", "One thing that the guard tells. Sizes in bytes.")
      .def_property_readonly("device", [](const GuardNote& n) { return n.reading.device; })
      .def_property_readonly("level", [](const GuardNote& n) { return name_of(n.level); })
      .def_property_readonly("used_bytes", [](const GuardNote& n) { return n.reading.used_bytes; })
      .def_property_readonly("limit_bytes",
                             [](const GuardNote& n) { return n.reading.limit_bytes; })
      .def_property_readonly("limit", [](const GuardNote& n) { return name_of(n.reading.limit); })
      .def_property_readonly("index",
                             [](const GuardNote& n) {
                               return n.index != 0 ? std::optional<int>(n.index) : std::nullopt;
                             })
      .def_readonly("grown_bytes", &GuardNote::grown_bytes)
      .def_readonly("sentence", &GuardNote::sentence)
      .def_readonly("again", &GuardNote::again);
  py::class_<LimitState>(m, "LimitState", "A limit as it was last read. Sizes in bytes.")
      .def_property_readonly("device", [](const LimitState& s) { return s.reading.device; })
      .def_property_readonly("level", [](const LimitState& s) { return name_of(s.level); })
      .def_property_readonly("used_bytes", [](const LimitState& s) { return s.reading.used_bytes; })
      .def_property_readonly("limit_bytes",
                             [](const LimitState& s) { return s.reading.limit_bytes; })
      .def_property_readonly("limit", [](const LimitState& s) { return name_of(s.reading.limit); })
      .def_readonly("warning_bytes", &LimitState::warning_bytes)
      .def_readonly("critical_bytes", &LimitState::critical_bytes);
  m.def(
      "set_guard",
      [](const std::string& policy) { Session::instance().guard().set_policy(policy_of(policy)); },
      py::arg("policy"), "Watch the limits of the process: off, warn or interrupt.");
  m.def("call_guard", &call_guard, py::arg("hook"),
        "Call hook() on the main thread while a cell runs and the guard has something for it; an "
        "exception that it returns is raised there, after True it is called again soon.");
  m.def(
      "guard_lines", [] { return Session::instance().guard().take_lines(); },
      "Return what is to be read under a cell, each once.");
  m.def(
      "reason_to_stop", [] { return Session::instance().guard().reason_to_stop(); },
      "Return why the running cell is to be interrupted, or None.");
  m.def(
      "cell_stopped", [] { Session::instance().guard().stopped(); },
      "The running cell was interrupted: not again before half of the rest is gone too.");
  m.def(
      "look_at_limits", [] { Session::instance().guard().look(); },
      py::call_guard<py::gil_scoped_release>(), "Read all limits now.");
  m.def(
      "limits", [] { return Session::instance().guard().states(); },
      "Return the limits that the guard watches, as last read.");
  m.def("host_limits", &host_limits,
        "Return (limit, used bytes, bytes that it allows) of each limit of the host's, as they are "
        "now, whether or not the guard is on.");
  m.def(
      "near_limits", [] { return Session::instance().guard().near_limits(); },
      "Return a note for each limit whose level is not normal.");
}

}  // namespace xleak::bindings
