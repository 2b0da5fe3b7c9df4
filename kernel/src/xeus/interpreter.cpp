#include "interpreter.hpp"

#include <signal.h>
#include <unistd.h>

#include "cell_requests.hpp"
#include "pybind11/stl.h"
#include "pybind11_json/pybind11_json.hpp"
#include "usage.hpp"
#include "xleak/monitor/session.hpp"

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;
using monitor::CellScope;
using monitor::CellStatus;
using monitor::InterpreterReading;
using monitor::Session;

// More interrupts than this do not come while one line of Python runs.
constexpr int kAttemptsToForbid = 1000;

std::optional<std::int64_t> optional_bytes(const py::handle& value) {
  if (value.is_none()) return std::nullopt;
  return value.cast<std::int64_t>();
}

// `parts`, that is blocks, devices, tensors and bytes in CPython's pools, comes from the Python
// package, which asks torch only where it is loaded.
InterpreterReading reading(const py::tuple& parts) {
  InterpreterReading result;
  result.python_blocks = optional_bytes(parts[0]);
  result.python_bytes = optional_bytes(parts[3]);
  for (const py::handle device : py::list(parts[1])) {
    const py::tuple row = py::reinterpret_borrow<py::tuple>(device);
    result.devices.push_back({row[0].cast<std::string>(), optional_bytes(row[1]),
                              optional_bytes(row[2]), optional_bytes(row[3]),
                              optional_bytes(row[4]), optional_bytes(row[5]),
                              optional_bytes(row[6]), optional_bytes(row[7])});
  }
  if (!parts[2].is_none()) {
    using Bytes = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    const auto [kept, peak, allocated] = parts[2].cast<Bytes>();
    result.tensors = monitor::TensorUse{kept, peak, allocated};
  }
  return result;
}

// Sent to the whole group where the kernel leads one, so that a program started by a cell stops
// too.
void interrupt_process() {
  const auto group = ::getpgid(0);
  ::kill(group == ::getpid() ? -group : ::getpid(), SIGINT);
}

py::dict message_as_dict(const xeus::xmessage& message) {
  py::dict result;
  result["header"] = py::object(message.header());
  result["parent_header"] = py::object(message.parent_header());
  result["metadata"] = py::object(message.metadata());
  result["content"] = py::object(message.content());
  py::list buffers;
  for (const auto& buffer : message.buffers()) {
    buffers.append(py::memoryview(py::bytes(buffer.data(), buffer.size())));
  }
  result["buffers"] = buffers;
  return result;
}

}  // namespace

Interpreter::Interpreter(py::object application)
    : xpyt::interpreter(/*redirect_output_enabled=*/false, /*redirect_display_enabled=*/false),
      application_(std::move(application)) {
  // The main thread runs the loop and keeps the GIL but where it waits.
  m_release_gil_at_startup = false;
}

void Interpreter::instanciate_ipython_shell() { m_ipython_shell_app = application_; }

void Interpreter::configure_impl() {
  xpyt::interpreter::configure_impl();
  shell("configured")();
  kernel_info_ = shell("kernel_info")();
}

void Interpreter::serve(Server& server) {
  server.set_kernel_info(kernel_info_);
  server.set_rest(
      [this] { return shell("work_descriptor")().cast<int>(); },
      [this](int shell_fd, int wake_fd, bool quiet) { shell("idle")(shell_fd, wake_fd, quiet); });
  server.handle_on_shell("execute_request", [this, &server](const xeus::xmessage& request) {
    return execute(server, request);
  });
  server.handle_on_shell("history_request", [this](const xeus::xmessage& request) -> nl::json {
    return shell("history_reply")(py::object(request.content()));
  });
  for (const char* type : {"comm_open", "comm_msg", "comm_close"}) {
    server.handle_on_shell(type, [this](const xeus::xmessage& request) {
      interruptible([&] { return shell("comm_message")(message_as_dict(request)); });
      return nl::json();
    });
  }
  server.handle_on_shell("comm_info_request", [this](const xeus::xmessage& request) -> nl::json {
    return shell("comm_info_reply")(py::object(request.content()));
  });
  const Server::Handler connect =
      [ports = shell("ports")().cast<nl::json>()](const xeus::xmessage&) { return ports; };
  const Server::Handler shutdown = [&server](const xeus::xmessage& request) {
    nl::json content = {{"status", "ok"}, {"restart", request.content().value("restart", false)}};
    Session::instance().asked_to_end();
    server.publish("shutdown_reply", content);
    server.request_stop();
    return content;
  };
  const Server::Handler interrupt = [](const xeus::xmessage&) {
    interrupt_process();
    return nl::json{{"status", "ok"}};
  };
  server.handle_on_shell("connect_request", connect);
  server.handle_on_control("connect_request", connect);
  server.handle_on_shell("shutdown_request", shutdown);
  server.handle_on_control("shutdown_request", shutdown);
  server.handle_on_control("interrupt_request", interrupt);
  server.handle_on_control("usage_request", [](const xeus::xmessage&) { return usage_reply(); });
}

// --- cells -------------------------------------------------------------------------------------

nl::json Interpreter::execute(Server& server, const xeus::xmessage& request) {
  const nl::json& content = request.content();
  nl::json reply = run_cell(server, request);
  if (reply.value("status", "") == "error" && !content.value("silent", false) &&
      content.value("stop_on_error", true)) {
    server.abort_queued();
  }
  return reply;
}

// An interrupt may hit any line of Python, those around the user's code too.
nl::json Interpreter::interruptible(const std::function<py::object()>& call) {
  py::object reply;
  std::string escaped;
  try {
    reply = call();
  } catch (py::error_already_set& error) {
    escaped = py::str(error.type().attr("__name__"));
  }
  for (int attempt = 0; attempt < kAttemptsToForbid; ++attempt) {
    try {
      shell("forbid_interrupts")();
      break;
    } catch (py::error_already_set&) {
      // One that came too late. The next attempt has nothing left to be interrupted by.
    }
  }
  if (!reply) reply = shell("escaped_reply")(escaped);
  return nl::json::parse(reply.cast<std::string>());
}

nl::json Interpreter::run_cell(Server& server, const xeus::xmessage& request) {
  const nl::json& content = request.content();
  const auto found = request.metadata().find("cellId");
  const nl::json cell_id = found != request.metadata().end() ? *found : nl::json(nullptr);
  const std::string code = content.value("code", "");
  const bool silent = content.value("silent", false);
  // IPython neither runs nor counts what is blank.
  const bool blank = code.find_first_not_of(" \t\n\v\f\r") == std::string::npos;
  const bool stored = content.value("store_history", !silent) && !silent && !blank;
  Session& session = Session::instance();
  std::optional<CellScope> scope;
  const py::object before = shell("before_request")(stored, silent, code);
  const auto count =
      static_cast<int>(PyLong_AsUnsignedLongMask(py::object(shell("execution_count")).ptr()));
  // Users may set it to anything.
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  if (stored && session.enabled()) {
    monitor::CellIdentity identity;
    if (cell_id.is_string()) identity.cell_id = cell_id.get<std::string>();
    identity.execution_count = count;
    scope.emplace(session, identity, reading(before));
    keep_request(scope->index(), request);
    shell("cell_begun")(scope->index());
  }
  shell("expect_interrupts")();
  if (!silent) server.publish("execute_input", {{"code", code}, {"execution_count", count}});
  const nl::json reply = interruptible([&] {
    return shell("execute")(code, silent, stored,
                            py::object(content.value("user_expressions", nl::json::object())),
                            content.value("allow_stdin", false), py::object(cell_id));
  });
  const int index = scope ? scope->index() : 0;
  if (scope) {
    const auto status = reply.value("status", "") == "ok" ? CellStatus::ok : CellStatus::error;
    scope->complete(status, reply.value("execution_count", 0),
                    reading(shell("interpreter_reading")()));
  }
  const int shown = reply.value("execution_count", 0);
  if (shell("after_request")(index, code, shown).cast<bool>())
    server.after_reply([this, index, code, shown] { shell("after_reply")(index, code, shown); });
  return reply;
}

// --- what the front end asks beside cells ------------------------------------------------------

nl::json Interpreter::complete_request_impl(const std::string& code, int cursor) {
  return shell("complete_reply")(code, cursor);
}

nl::json Interpreter::inspect_request_impl(const std::string& code, int cursor, int detail) {
  return shell("inspect_reply")(code, cursor, detail);
}

nl::json Interpreter::is_complete_request_impl(const std::string& code) {
  return shell("is_complete_reply")(code);
}

nl::json Interpreter::kernel_info_request_impl() { return kernel_info_; }

}  // namespace xleak::kernel
