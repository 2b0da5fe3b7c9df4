#include <pybind11/pybind11.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "bindings/register.hpp"
#include "xleak/monitor/open_files.hpp"

namespace py = pybind11;

namespace xleak::bindings {
namespace {

/// Asks the operating system, and leaves the children as they are.
bool has_children() {
  siginfo_t unused;
  return ::waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Their ids in decimal; empty where the operating system does not tell.
std::string children_of_this_thread() {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> listed(std::fopen("/proc/thread-self/children", "re"));
  std::string ids;
  std::array<char, 4096> part;
  while (listed) {
    const auto got = std::fread(part.data(), 1, part.size(), listed.get());
    if (got == 0) break;
    ids.append(part.data(), got);
  }
  return ids;
}

/// What the process has beside objects: read after each cell, and told apart from the last time.
class ProcessState {
 public:
  /// The first two are the standard library's own, which stay the same objects.
  ProcessState(py::list handlers, py::dict threads, py::object count_exit_hooks)
      : handlers_(std::move(handlers)),
        threads_(std::move(threads)),
        count_exit_hooks_(std::move(count_exit_hooks)),
        last_(read()) {}

  bool changed() {
    Reading now = read();
    const bool same = now.handlers == last_.handlers && now.threads == last_.threads &&
                      now.exit_hooks == last_.exit_hooks && now.children == last_.children;
    last_ = std::move(now);
    return !same;
  }
  py::bytes children() const { return last_.children; }
  long exit_hooks() const { return last_.exit_hooks; }

 private:
  struct Reading {
    std::size_t handlers;
    std::size_t threads;  ///< Which ones, as one number.
    long exit_hooks;
    std::string children;
  };

  Reading read() const {
    std::size_t threads = threads_.size();
    for (const auto& entry : threads_) {
      threads = threads * 31 + std::hash<const void*>()(entry.second.ptr());
    }
    return {handlers_.size(), threads, count_exit_hooks_().cast<long>(),
            has_children() ? children_of_this_thread() : std::string()};
  }

  py::list handlers_;
  py::dict threads_;
  py::object count_exit_hooks_;
  Reading last_;
};

}  // namespace

void register_process(py::module_& m) {
  py::class_<ProcessState>(m, "ProcessState")
      .def(py::init<py::list, py::dict, py::object>(), py::arg("handlers"), py::arg("threads"),
           py::arg("count_exit_hooks"))
      .def("changed", &ProcessState::changed, "Return whether anything did since the last call.")
      .def_property_readonly("children", &ProcessState::children)
      .def_property_readonly("exit_hooks", &ProcessState::exit_hooks);
  using monitor::OpenFile;
  using monitor::OpenFiles;
  py::class_<OpenFiles>(m, "OpenFiles")
      .def(py::init())
      .def("changed", &OpenFiles::changed,
           "Return whether others may be open than at the last call.")
      .def("files", [](const OpenFiles& open) {
        py::list files;
        for (const OpenFile& file : open.files()) {
          const auto length = static_cast<Py_ssize_t>(file.path.size());
          PyObject* path = PyUnicode_DecodeFSDefaultAndSize(file.path.data(), length);
          if (path == nullptr) throw py::error_already_set();
          files.append(py::make_tuple(file.descriptor, py::reinterpret_steal<py::str>(path)));
        }
        return files;
      });
}

}  // namespace xleak::bindings
