// xleak._kernel: what the Python package may ask of the running kernel.
#include <iostream>
#include <memory>

#include "forked.hpp"
#include "interpreter.hpp"
#include "pybind11/pybind11.h"
#include "pybind11/stl.h"
#include "pybind11_json/pybind11_json.hpp"
#include "xeus-python/xdebugger.hpp"
#include "xeus/xkernel.hpp"

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;

// The one kernel of this process. It is never destroyed: the debugger's thread may still use its
// sockets.
xeus::xkernel* the_kernel = nullptr;
Server* the_server = nullptr;

Server& server() {
  if (the_server == nullptr)
    throw std::runtime_error(
        "xleak._kernel: no kernel runs in this process. Start one with `python -m xleak.kernel`.");
  return *the_server;
}

std::unique_ptr<xeus::xserver> build_server(xeus::xcontext& context,
                                            const xeus::xconfiguration& config,
                                            nl::json::error_handler_t) {
  auto built = std::make_unique<Server>(context.get_wrapped_context<zmq::context_t>(), config);
  the_server = built.get();
  return built;
}

// xeus greets on std::clog and its debugger tells every step there. Nobody asked for either.
void silence_log() { std::clog.rdbuf(nullptr); }

void create(const std::string& connection_file, py::object application, const std::string& python) {
  watch_forks();
  silence_log();
  auto interpreter = std::make_unique<Interpreter>(std::move(application));
  Interpreter& running = *interpreter;
  the_kernel = new xeus::xkernel(
      xeus::load_configuration(connection_file), "kernel", xeus::make_context<zmq::context_t>(),
      std::move(interpreter), build_server, xeus::make_in_memory_history_manager(), nullptr,
      xpyt::make_python_debugger, {{"python", python}}, nl::json::error_handler_t::replace);
  running.serve(server());
}

void write(int descriptor, const py::str& text) {
  Py_ssize_t size = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return server().output().write(descriptor, utf8, static_cast<std::size_t>(size));
  }
  // Lone surrogates have no UTF-8 form; what can be shown of the text is shown.
  PyErr_Clear();
  const py::bytes encoded = text.attr("encode")("utf-8", "backslashreplace");
  const std::string shown = encoded;
  server().output().write(descriptor, shown.data(), shown.size());
}

void publish(const std::string& type, const py::dict& content, const py::dict& metadata,
             const py::list& buffers) {
  xeus::buffer_sequence bytes;
  for (const py::handle buffer : buffers) {
    const py::buffer_info view = py::reinterpret_borrow<py::buffer>(buffer).request();
    const auto* data = static_cast<const char*>(view.ptr);
    bytes.emplace_back(data, data + view.size * view.itemsize);
  }
  server().publish(type, content, metadata, std::move(bytes));
}

}  // namespace

PYBIND11_MODULE(_kernel, m) {
  m.doc() = "The xeus kernel around xleak's shell. Used by xleak.kernel alone.";
  m.def("create", &create, py::arg("connection_file"), py::arg("application"), py::arg("python"));
  m.def(
      "run", [] { the_kernel->start(); }, "Serve requests until the kernel is asked to end.");
  m.def(
      "capture_output", [] { server().output().start(); },
      "Take over the file descriptors 1 and 2 from here on.");
  m.def("original_stderr", [] { return server().output().original_stderr(); });
  m.def("write", &write, py::arg("descriptor"), py::arg("text"));
  m.def("flush", [] { server().output().flush(); });
  m.def("publish", &publish, py::arg("msg_type"), py::arg("content"), py::arg("metadata"),
        py::arg("buffers"));
  m.def(
      "ask",
      [](const std::string& prompt, bool password) { return server().ask(prompt, password); },
      py::arg("prompt"), py::arg("password"));
  m.def("parent", []() -> py::object { return server().parent(); });
  m.def("in_forked_child", &in_forked_child);
  m.def("request_waits", [] { return server().request_waits(); });
  m.def("request_stop", [] { server().request_stop(); });
  m.def(
      "close",
      [] {
        if (the_server != nullptr) the_server->close();
      },
      py::call_guard<py::gil_scoped_release>());
}

}  // namespace xleak::kernel
