// xleak._kernel: what the Python package may ask of the running kernel.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "cell_requests.hpp"
#include "forked.hpp"
#include "interpreter.hpp"
#include "live_cells.hpp"
#include "pybind11/pybind11.h"
#include "pybind11/stl.h"
#include "pybind11_json/pybind11_json.hpp"
#include "rest_signal.hpp"
#include "signal_waker.hpp"
#include "xeus-python/xdebugger.hpp"
#include "xeus/xkernel.hpp"

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;

// The one kernel of this process. It is never destroyed: the debugger's thread may still use its
// sockets.
xeus::xkernel* the_kernel = nullptr;
Server* the_server = nullptr;

// The server, which answers before the kernel exists. The kernel takes it over.
struct Bound {
  xeus::xconfiguration config;
  std::unique_ptr<xeus::xcontext> context;
  std::unique_ptr<Server> server;
};
Bound* bound = nullptr;

Server& server() {
  if (the_server == nullptr)
    throw std::runtime_error(
        "xleak._kernel: no kernel runs in this process. Start one with `python -m xleak.kernel`.");
  return *the_server;
}

std::unique_ptr<xeus::xserver> build_server(xeus::xcontext&, const xeus::xconfiguration&,
                                            nl::json::error_handler_t) {
  the_server = bound->server.get();
  return std::move(bound->server);
}

// xeus greets on std::clog and its debugger tells every step there. Nobody asked for either.
void silence_log() { std::clog.rdbuf(nullptr); }

void bind(const std::string& connection_file, const std::string& kernel_info) {
  watch_forks();
  auto config = xeus::load_configuration(connection_file);
  // As in every kernel: without a key nothing is signed, and nothing is checked.
  if (config.m_key.empty()) config.m_signature_scheme = "none";
  auto context = xeus::make_context<zmq::context_t>();
  auto channels = std::make_unique<Channels>(context->m_context, config);
  auto server = std::make_unique<Server>(context->m_context, config, std::move(channels),
                                         nl::json::parse(kernel_info));
  bound = new Bound{std::move(config), std::move(context), std::move(server)};
}

void create(py::object application, const std::string& python) {
  if (bound == nullptr || !bound->server)
    throw std::runtime_error("cannot create the kernel: its sockets are not bound. Call bind().");
  silence_log();
  auto interpreter = std::make_unique<Interpreter>(std::move(application));
  Interpreter& running = *interpreter;
  try {
    the_kernel = new xeus::xkernel(
        bound->config, "kernel", std::move(bound->context), std::move(interpreter), build_server,
        xeus::make_in_memory_history_manager(), nullptr, xpyt::make_python_debugger,
        {{"python", python}}, nl::json::error_handler_t::replace);
  } catch (...) {
    the_server = nullptr;  // It went with the kernel that did not come to be.
    throw;
  }
  running.serve(server());
}

// Where the kernel could not be made, its streams still tell why.
void write_bytes(int descriptor, const char* text, std::size_t size) {
  if (the_server != nullptr) return server().output().write(descriptor, text, size);
  (void)!::write(descriptor, text, size);
}

void write(int descriptor, const py::str& text) {
  Py_ssize_t size = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return write_bytes(descriptor, utf8, static_cast<std::size_t>(size));
  }
  // Lone surrogates have no UTF-8 form; what can be shown of the text is shown.
  PyErr_Clear();
  const py::bytes encoded = text.attr("encode")("utf-8", "backslashreplace");
  const std::string shown = encoded;
  write_bytes(descriptor, shown.data(), shown.size());
}

void publish(const std::string& type, const std::string& content_and_metadata,
             const py::list& buffers) {
  nl::json parts = nl::json::parse(content_and_metadata);
  xeus::buffer_sequence bytes;
  for (const py::handle buffer : buffers) {
    const py::buffer_info view = py::reinterpret_borrow<py::buffer>(buffer).request();
    const auto* data = static_cast<const char*>(view.ptr);
    bytes.emplace_back(data, data + view.size * view.itemsize);
  }
  server().publish(type, std::move(parts[0]), std::move(parts[1]), std::move(bytes));
}

void publish_after(const std::string& type, const std::string& header_and_content) {
  nl::json parts = nl::json::parse(header_and_content);
  server().publish_after(parts[0], type, std::move(parts[1]));
}

}  // namespace

PYBIND11_MODULE(_kernel, m) {
  m.doc() = "The xeus kernel around xleak's shell. Used by xleak.kernel alone.";
  m.def("bind", &bind, py::arg("connection_file"), py::arg("kernel_info"),
        "Open the sockets. Front ends connect while the rest is imported, and are told what this "
        "kernel is by `kernel_info`, the content of a kernel_info_reply as JSON.");
  m.def("create", &create, py::arg("application"), py::arg("python"));
  m.def(
      "run", [] { the_kernel->start(); }, "Serve requests until the kernel is asked to end.");
  m.def(
      "capture_output", [] { server().output().start(); },
      "Take over the file descriptors 1 and 2 from here on.");
  m.def("original_stderr", [] { return server().output().original_stderr(); });
  m.def("start_signal_waker", &start_signal_waker, py::arg("loop_wake"), py::arg("looked"),
        "Return the descriptor for signal.set_wakeup_fd().");
  m.def("write", &write, py::arg("descriptor"), py::arg("text"));
  m.def("flush", [] {
    if (the_server != nullptr) the_server->output().flush();
  });
  m.def("publish", &publish, py::arg("msg_type"), py::arg("content_and_metadata"),
        py::arg("buffers"));
  m.def("publish_after", &publish_after, py::arg("msg_type"), py::arg("header_and_content"),
        "Publish for a request that was served before.");
  m.def(
      "requests_since",
      [](int index) {
        py::list requests;
        for (const auto& [cell, request] : requests_since(index))
          requests.append(py::make_tuple(cell, py::bytes(request)));
        return requests;
      },
      py::arg("index"), "Return (index, JSON of header and metadata) of cells, oldest first.");
  m.def(
      "ask",
      [](const std::string& prompt, bool password) { return server().ask(prompt, password); },
      py::arg("prompt"), py::arg("password"));
  m.def("parent", []() -> py::object { return server().parent(); });
  m.def(
      "tell_live_cells",
      [](std::vector<std::string> comm_ids) { tell_live_cells(server(), std::move(comm_ids)); },
      py::arg("comm_ids"), "Tell these comms what a cell does while it runs; none: nobody.");
  m.def("look_again", &look_again);
  py::class_<RestSignal>(m, "RestSignal")
      .def(py::init<>())
      .def("set", &RestSignal::set, py::arg("at_once"))
      .def("clear", &RestSignal::clear)
      .def("wait", &RestSignal::wait, py::call_guard<py::gil_scoped_release>());
  m.def("in_forked_child", &in_forked_child);
  m.def("fork_begins", [] { note_fork(true); });
  m.def("fork_ended", [] { note_fork(false); });
  m.def("is_forking", &is_forking);
  m.def("request_waits", [] { return server().request_waits(); });
  m.def("request_stop", [] { server().request_stop(); });
  m.def(
      "close",
      [] {
        if (the_server != nullptr) return the_server->close();
        if (bound != nullptr && bound->server) bound->server->close();
      },
      py::call_guard<py::gil_scoped_release>());
}

}  // namespace xleak::kernel
