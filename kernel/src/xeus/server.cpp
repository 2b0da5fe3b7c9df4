#include "server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "debugger_folder.hpp"
#include "forked.hpp"
#include "message_header.hpp"
#include "polling.hpp"
#include "pybind11/pybind11.h"
#include "request_checks.hpp"
#include "rest_signal.hpp"
#include "threads.hpp"
#include "xeus/xguid.hpp"
#include "xeus/xmiddleware.hpp"
#include "xeus/xsystem.hpp"
#include "xleak/monitor/session.hpp"

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;
namespace py = pybind11;

// How soon a signal handler of the user's runs while a cell waits for input.
constexpr long kInputCheckMilliseconds = 50;
constexpr std::chrono::milliseconds kParentCheck{1000};
// A client that sends one cell after another sends the next one sooner: no other work stands
// before that.
constexpr int kQuietMilliseconds = 50;

// What xeus's core answers by itself; it would also run cells on the control thread, without the
// GIL.
const std::set<std::string> kCoreOnShell = {"complete_request", "inspect_request",
                                            "is_complete_request"};
const std::set<std::string> kCoreOnControl = {"debug_request"};
const std::string kKernelInfo = "kernel_info_request";

// A child of os.fork() that comes back to the kernel's loop has nothing more to do.
void end_if_forked() {
  if (!in_forked_child()) return;
  std::fflush(nullptr);
  ::_exit(0);
}

std::string type_of(const xeus::xmessage& message) { return text_in(message.header(), "msg_type"); }

std::string reply_type(const std::string& request) {
  const auto end = request.rfind("_request");
  return request.substr(0, end) + "_reply";
}

bool is_utf8(const std::string& text) {
  try {
    return !nl::json(text).dump().empty();
  } catch (const nl::json::type_error&) {
    return false;
  }
}

}  // namespace

/// The debugger asks for code to be run. It comes on the control thread, which may run Python
/// itself: the main thread may be standing at a breakpoint.
class Server::Messenger final : public xeus::xcontrol_messenger {
 public:
  explicit Messenger(Server& server) : server_(server) {}

 private:
  nl::json send_to_shell_impl(const nl::json& message) override {
    return server_.notify_internal_listener(message);
  }
  Server& server_;
};

Server::Server(zmq::context_t& context, const xeus::xconfiguration& config,
               std::unique_ptr<Channels> channels, nl::json kernel_info)
    : config_(config),
      session_id_(xeus::new_xguid().c_str()),
      owned_channels_(std::move(channels)),
      channels_(*owned_channels_),
      debug_events_(context, zmq::socket_type::sub),
      messenger_(std::make_unique<Messenger>(*this)),
      kernel_info_(std::move(kernel_info)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stopping_(::eventfd(0, EFD_CLOEXEC)) {
  debug_events_.set(zmq::sockopt::subscribe, "");
  debug_events_.bind(xeus::get_publisher_end_point());
  output_.set_publisher([this](const std::string& name, std::string text, const nl::json& parent) {
    publish_for(parent, "stream", {{"name", name}, {"text", std::move(text)}}, nl::json::object(),
                {});
  });
  const Handler tell = [this](const xeus::xmessage&) {
    std::lock_guard<std::mutex> lock(kernel_info_mutex_);
    return kernel_info_;
  };
  handle_on_shell(kKernelInfo, tell);
  handle_on_control(kKernelInfo, tell);
  publish_for(nl::json::object(), "status", {{"execution_state", "starting"}}, nl::json::object(),
              {});
  starting_ = std::make_unique<WhileStarting>(
      channels_,
      [this, tell](const xeus::xmessage& request, zmq::socket_t& socket) {
        if (type_of(request) != kKernelInfo) return false;
        answer(request, socket, tell);
        return true;
      },
      [this] { welcome_subscribers(); });
}

Server::~Server() { close(); }

void Server::close() {
  if (in_forked_child()) return;
  starting_->end();
  output_.stop();
  debug_events_.close();
  channels_.close();
}

// --- the loop ----------------------------------------------------------------------------------

void Server::set_kernel_info(nl::json content) {
  std::lock_guard<std::mutex> lock(kernel_info_mutex_);
  kernel_info_ = std::move(content);
}

// The core's word that the kernel starts comes late: front ends have been told, and that it is
// idle.
void Server::start_impl(xeus::xpub_message) {
  starting_->end();
  is_started_ = true;
  control_thread_ = start_thread([this] { serve_control(); });
  heartbeat_thread_ = start_thread([this] { serve_heartbeat(); });
  const int shell = channels_.shell.get(zmq::sockopt::fd);
  while (!stop_) {
    serve_shell();
    note_rest(true);
    try {
      if (!stop_) rest(shell);
    } catch (py::error_already_set& error) {
      // A signal handler of the user's raised before the loop was entered, or while what it had
      // raised before was being shown.
      error.discard_as_unraisable("a signal handler between two cells");
    }
    note_rest(false);
    end_if_forked();
    std::uint64_t count;
    (void)!::read(wake_, &count, sizeof count);
  }
  py::gil_scoped_release release;
  control_thread_.join();
  heartbeat_thread_.join();
}

// A request that comes soon is not kept waiting by the Python of the user's loop.
void Server::rest(int shell) {
  const int work = work_();
  int ready = -1;
  if (work >= 0) {
    std::array<pollfd, 3> items{{{shell, POLLIN, 0}, {wake_, POLLIN, 0}, {work, POLLIN, 0}}};
    {
      py::gil_scoped_release release;
      ready = ::poll(items.data(), items.size(), kQuietMilliseconds);
    }
    if (items[0].revents != 0 || items[1].revents != 0) return;
  }
  idle_(shell, wake_, /*quiet=*/ready == 0);
}

void Server::serve_shell() {
  while (!stop_) {
    if (!aborted_.empty()) {
      xeus::xmessage request = std::move(aborted_.front());
      aborted_.pop_front();
      dispatch_shell(std::move(request), /*abort=*/true);
    } else if (auto request = next_on_shell()) {
      dispatch_shell(std::move(*request), /*abort=*/false);
    } else {
      return;
    }
    end_if_forked();
  }
}

std::optional<xeus::xmessage> Server::next_on_shell() {
  auto& kept = starting_->kept_on_shell;
  if (kept.empty()) return channels_.receive(channels_.shell);
  xeus::xmessage request = std::move(kept.front());
  kept.pop_front();
  return request;
}

void Server::abort_queued() {
  while (auto request = next_on_shell()) aborted_.push_back(std::move(*request));
}

void Server::serve_control() {
  const auto subscriptions = channels_.subscription_descriptors();
  std::array<zmq::pollitem_t, 5> items{readable(channels_.control), readable(debug_events_),
                                       readable(subscriptions[0]), readable(subscriptions[1]),
                                       readable(stopping_)};
  for (xeus::xmessage& request : starting_->kept_on_control) dispatch_control(std::move(request));
  starting_->kept_on_control.clear();
  while (!stop_) {
    wait_for_one(items, kForEver);
    forward_debug_events();
    welcome_subscribers();
    while (auto request = channels_.receive(channels_.control))
      dispatch_control(std::move(*request));
  }
}

void Server::welcome_subscribers() {
  for (const std::string& topic : channels_.new_subscriptions()) {
    // JEP 65: a topic that is not UTF-8 gets no answer.
    if (!is_utf8(topic)) continue;
    channels_.publish(xeus::xpub_message(topic, header("iopub_welcome"), nl::json::object(),
                                         nl::json::object(), {{"subscription", topic}}, {}));
  }
}

void Server::serve_heartbeat() {
  const auto parent = ::getppid();
  const bool watch_parent = std::getenv("JPY_PARENT_PID") != nullptr;
  std::array<zmq::pollitem_t, 2> items{readable(channels_.heartbeat), readable(stopping_)};
  while (!stop_) {
    wait_for_one(items, watch_parent ? kParentCheck : kForEver);
    channels_.answer_heartbeat();
    // Who started the kernel is gone without a word: nobody can reach or stop it any more.
    if (watch_parent && ::getppid() != parent) ::_exit(1);
  }
}

void Server::forward_debug_events() {
  zmq::multipart_t event;
  while (event.recv(debug_events_, ZMQ_DONTWAIT)) channels_.publish_raw(event);
}

bool Server::request_waits() {
  if (!is_started_) return starting_->keeps_one();
  return stop_ || !starting_->kept_on_shell.empty() || wait_readable(channels_.shell, 0);
}

void Server::request_stop() noexcept {
  stop_ = true;
  ::eventfd_write(wake_, 1);
  ::eventfd_write(stopping_, 1);
}

// --- requests ----------------------------------------------------------------------------------

void Server::dispatch_shell(xeus::xmessage request, bool abort) {
  {
    std::lock_guard<std::mutex> lock(parent_mutex_);
    parent_ = {{"header", request.header()}, {"metadata", request.metadata()}};
    identities_ = request.identities();
  }
  output_.set_parent(request.header());
  const std::string type = type_of(request);
  const auto handler = shell_handlers_.find(type);
  const std::string missing = what_is_missing(type, request.content());
  if (!missing.empty()) {
    refuse(request, type, missing);
  } else if (abort && type == "execute_request") {
    answer(request, channels_.shell, [](const xeus::xmessage&) {
      return nl::json{{"status", "aborted"}};
    });
  } else if (handler != shell_handlers_.end()) {
    answer(request, channels_.shell, handler->second);
    finish_request();
  } else if (kCoreOnShell.count(type) != 0) {
    pass_to_core(std::move(request), channels_.shell, replied_on_shell_, /*shell=*/true);
  } else {
    send_failure(request, channels_.shell, "the shell channel knows no " + type);
  }
}

void Server::finish_request() {
  const auto work = std::exchange(after_reply_, nullptr);
  if (!work || in_forked_child()) return;
  try {
    work();
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("xleak, after a cell");
  }
}

// A request gets an answer. Of what has none, the terminal hears.
void Server::refuse(const xeus::xmessage& request, const std::string& type,
                    const std::string& why) {
  answer(request, channels_.shell, [&](const xeus::xmessage&) -> nl::json {
    if (type.rfind("_request") != std::string::npos) throw std::runtime_error(why);
    channels_.tell_dropped(why);
    return nullptr;
  });
}

void Server::dispatch_control(xeus::xmessage request) {
  const auto handler = control_handlers_.find(type_of(request));
  if (handler != control_handlers_.end())
    return answer(request, channels_.control, handler->second);
  const std::string type = type_of(request), command = text_in(request.content(), "command");
  if (kCoreOnControl.count(type) == 0)
    return send_failure(request, channels_.control, "the control channel knows no " + type);
  if (type == "debug_request") {
    std::string wrong = what_is_wrong_with_debug_request(request.content());
    if (wrong.empty() && command == "initialize") wrong = what_is_wrong_with_debugger_folder();
    if (!wrong.empty()) return send_failure(request, channels_.control, wrong);
    if (command == "initialize") debugger_started_ = true;
    // xeus-python's debugger would follow a null pointer.
    if (!debugger_started_ && command != "debugInfo")
      return send_failure(request, channels_.control, "the debugger is not started");
  }
  pass_to_core(std::move(request), channels_.control, replied_on_control_, /*shell=*/false);
}

// The core swallows what its handlers throw, and the front end would wait for ever.
void Server::pass_to_core(xeus::xmessage request, zmq::socket_t& socket, bool& replied,
                          bool shell) {
  const xeus::xmessage asked(request.identities(), request.header(), {}, {}, request.content(), {});
  replied = false;
  shell ? notify_shell_listener(std::move(request)) : notify_control_listener(std::move(request));
  if (replied || in_forked_child()) return;
  send_failure(asked, socket, "the kernel could not serve this " + type_of(asked));
}

void Server::send_failure(const xeus::xmessage& request, zmq::socket_t& socket,
                          const std::string& why) {
  const std::string type = type_of(request);
  if (type.rfind("_request") == std::string::npos) return;
  nl::json content = {{"status", "error"},
                      {"ename", "RequestFailed"},
                      {"evalue", why},
                      {"traceback", nl::json::array()}};
  if (type == "debug_request") {
    content.update({{"type", "response"},
                    {"success", false},
                    {"message", why},
                    {"command", text_in(request.content(), "command")},
                    {"request_seq", request.content().value("seq", nl::json(0))}});
  }
  channels_.send(socket,
                 xeus::xmessage(request.identities(), header(reply_type(type)), request.header(),
                                nl::json::object(), std::move(content), {}));
}

void Server::answer(const xeus::xmessage& request, zmq::socket_t& socket, const Handler& handler) {
  const nl::json started = iso8601_now();
  publish_status("busy", request.header());
  nl::json content;
  try {
    content = handler(request);
  } catch (const std::exception& error) {
    content = {{"status", "error"},
               {"ename", "KernelError"},
               {"evalue", error.what()},
               {"traceback", nl::json::array()}};
  }
  if (in_forked_child()) return;
  output_.flush();
  if (!content.is_null()) {
    const nl::json metadata = {{"started", started},
                               {"dependencies_met", true},
                               {"engine", session_id_},
                               {"status", content.value("status", "ok")}};
    channels_.send(socket,
                   xeus::xmessage(request.identities(), header(reply_type(type_of(request))),
                                  request.header(), metadata, std::move(content), {}));
  }
  // Before the client knows that it may go on: it may go on with a kill.
  if (&socket == &channels_.shell) monitor::Session::instance().cell_answered();
  publish_status("idle", request.header());
}

// --- sending -----------------------------------------------------------------------------------

nl::json Server::header(const std::string& type) const { return message_header(type, session_id_); }

nl::json Server::parent() const {
  std::lock_guard<std::mutex> lock(parent_mutex_);
  return parent_;
}

nl::json Server::parent_header() const {
  const nl::json request = parent();
  return request.is_object() ? request["header"] : nl::json::object();
}

void Server::publish_status(const char* state, const nl::json& parent) {
  publish_for(parent, "status", {{"execution_state", state}}, nl::json::object(), {});
}

void Server::publish(const std::string& type, nl::json content, nl::json metadata,
                     xeus::buffer_sequence buffers) {
  output_.flush();
  publish_for(parent_header(), type, std::move(content), std::move(metadata), std::move(buffers));
}

void Server::publish_beside(const std::string& type, nl::json content) {
  publish_for(parent_header(), type, std::move(content), nl::json::object(), {});
}

void Server::publish_for(const nl::json& parent, const std::string& type, nl::json content,
                         nl::json metadata, xeus::buffer_sequence buffers) {
  if (in_forked_child()) return;
  channels_.publish(xeus::xpub_message("kernel." + session_id_ + "." + type, header(type), parent,
                                       std::move(metadata), std::move(content),
                                       std::move(buffers)));
}

std::string Server::ask(const std::string& prompt, bool password) {
  if (in_forked_child())
    throw std::runtime_error(
        "a forked child cannot ask for input: the front end talks to the kernel alone.");
  output_.flush();
  while (channels_.receive(channels_.stdin_)) {
    // An answer to a question that was interrupted is not an answer to this one.
  }
  const nl::json request = parent();
  channels_.send(
      channels_.stdin_,
      xeus::xmessage(identities_, header("input_request"), request["header"], nl::json::object(),
                     {{"prompt", prompt}, {"password", password}}, {}));
  for (;;) {
    {
      py::gil_scoped_release release;
      wait_readable(channels_.stdin_, kInputCheckMilliseconds);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (stop_) throw std::runtime_error("the kernel is shutting down.");
    const auto reply = channels_.receive(channels_.stdin_);
    if (reply) return reply->content().value("value", "");
  }
}

// --- what xeus's core asks of a server -----------------------------------------------------------

xeus::xcontrol_messenger& Server::get_control_messenger_impl() { return *messenger_; }

void Server::send_shell_impl(xeus::xmessage message) {
  output_.flush();
  replied_on_shell_ = true;
  channels_.send(channels_.shell, std::move(message));
}

void Server::send_control_impl(xeus::xmessage message) {
  replied_on_control_ = true;
  channels_.send(channels_.control, std::move(message));
}

void Server::send_stdin_impl(xeus::xmessage message) {
  channels_.send(channels_.stdin_, std::move(message));
}

void Server::publish_impl(xeus::xpub_message message, xeus::channel) {
  if (in_forked_child()) return;
  output_.flush();
  channels_.publish(std::move(message));
}

void Server::abort_queue_impl(const listener&, long) { abort_queued(); }

void Server::stop_impl() { request_stop(); }

void Server::update_config_impl(xeus::xconfiguration& config) const { config = config_; }

}  // namespace xleak::kernel
