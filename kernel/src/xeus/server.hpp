#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "channels.hpp"
#include "output.hpp"
#include "while_starting.hpp"
#include "xeus/xcontrol_messenger.hpp"
#include "xeus/xeus_context.hpp"
#include "xeus/xserver.hpp"

namespace xleak::kernel {

/// The xserver of this kernel: shell and stdin on the main thread, control and heartbeat on threads
/// of their own, iopub from everywhere. What xeus's core cannot answer well is answered here, with
/// whole messages in hand; the rest goes to the core.
class Server final : public xeus::xserver {
 public:
  /// Answers one request: the content of the reply, or null for a message that has none.
  using Handler = std::function<nlohmann::json(const xeus::xmessage&)>;

  /// From here on front ends are welcomed, and kernel_info_request is answered with
  /// `kernel_info`. All other requests wait for start().
  Server(zmq::context_t& context, const xeus::xconfiguration& config,
         std::unique_ptr<Channels> channels, nlohmann::json kernel_info);
  ~Server() override;

  /// What the main thread does while no request waits. `work` can be read once something is to be
  /// done without a request, or is -1 where something is to be done already. `idle(shell, wake,
  /// quiet)` does it, and returns when one of the two descriptors can be read; quiet: no request
  /// has come for a while.
  void set_rest(std::function<int()> work, std::function<void(int, int, bool)> idle) {
    work_ = std::move(work);
    idle_ = std::move(idle);
  }
  /// Requests of this type go to `handler` on the main thread, between busy and idle.
  void handle_on_shell(const std::string& type, Handler handler) {
    shell_handlers_[type] = std::move(handler);
  }
  /// The same on the control thread, where no cell can hold it up. The handler takes the GIL if it
  /// needs it.
  void handle_on_control(const std::string& type, Handler handler) {
    control_handlers_[type] = std::move(handler);
  }

  /// The content of later replies to kernel_info_request. Any thread.
  void set_kernel_info(nlohmann::json content);

  /// Runs `work` once the reply to the shell request that is being served, and its idle, are sent.
  /// Main thread.
  void after_reply(std::function<void()> work) { after_reply_ = std::move(work); }

  /// Publishes on iopub for the request that is being served. Any thread; nothing in a forked
  /// child.
  void publish(const std::string& type, nlohmann::json content,
               nlohmann::json metadata = nlohmann::json::object(),
               xeus::buffer_sequence buffers = {});
  /// The same without what cells printed before it: for threads that must not wait.
  void publish_beside(const std::string& type, nlohmann::json content);
  /// The same for a request that was served before, by its header.
  void publish_after(const nlohmann::json& header, const std::string& type,
                     nlohmann::json content) {
    publish_for(header, type, std::move(content), nlohmann::json::object(), {});
  }
  /// Asks the front end for a line of input and waits for it. Main thread, GIL held.
  std::string ask(const std::string& prompt, bool password);
  /// Header and metadata of the shell request that is being served, or of the last one.
  nlohmann::json parent() const;

  /// Execution requests that wait at this moment will be answered with "aborted". Main thread.
  void abort_queued();
  /// Ends the loop once what runs has ended. Any thread.
  void request_stop() noexcept;
  /// True when a request waits on the shell channel. Main thread.
  bool request_waits();
  /// Closes what start() left open. Nothing can be published afterwards.
  void close();

  Output& output() noexcept { return output_; }

 private:
  class Messenger;

  xeus::xcontrol_messenger& get_control_messenger_impl() override;
  void send_shell_impl(xeus::xmessage message) override;
  void send_control_impl(xeus::xmessage message) override;
  void send_stdin_impl(xeus::xmessage message) override;
  void publish_impl(xeus::xpub_message message, xeus::channel channel) override;
  void start_impl(xeus::xpub_message message) override;
  void abort_queue_impl(const listener& answer, long milliseconds) override;
  void stop_impl() override;
  void update_config_impl(xeus::xconfiguration& config) const override;

  void rest(int shell);
  void serve_shell();
  std::optional<xeus::xmessage> next_on_shell();
  void serve_control();
  void serve_heartbeat();
  void welcome_subscribers();
  void forward_debug_events();
  void dispatch_shell(xeus::xmessage request, bool abort);
  void finish_request();
  void refuse(const xeus::xmessage& request, const std::string& type, const std::string& why);
  void dispatch_control(xeus::xmessage request);
  void answer(const xeus::xmessage& request, zmq::socket_t& socket, const Handler& handler);
  void pass_to_core(xeus::xmessage request, zmq::socket_t& socket, bool& replied, bool shell);
  void send_failure(const xeus::xmessage& request, zmq::socket_t& socket, const std::string& why);
  void publish_status(const char* state, const nlohmann::json& parent);
  void publish_for(const nlohmann::json& parent, const std::string& type, nlohmann::json content,
                   nlohmann::json metadata, xeus::buffer_sequence buffers);
  nlohmann::json header(const std::string& type) const;
  nlohmann::json parent_header() const;

  xeus::xconfiguration config_;
  std::string session_id_;
  std::unique_ptr<Channels> owned_channels_;
  Channels& channels_;
  zmq::socket_t debug_events_;
  std::unique_ptr<xeus::xcontrol_messenger> messenger_;
  std::mutex kernel_info_mutex_;
  nlohmann::json kernel_info_;
  std::function<int()> work_;
  std::function<void(int, int, bool)> idle_;
  std::function<void()> after_reply_;
  std::map<std::string, Handler> shell_handlers_;
  std::map<std::string, Handler> control_handlers_;
  mutable std::mutex parent_mutex_;
  nlohmann::json parent_;
  xeus::xmessage::guid_list identities_;
  bool is_started_ = false;  // Main thread alone.
  std::atomic<bool> stop_{false};
  bool debugger_started_ = false;  // Control thread alone.
  std::deque<xeus::xmessage> aborted_;
  bool replied_on_shell_ = false;    // Main thread alone.
  bool replied_on_control_ = false;  // Control thread alone.
  int wake_;
  int stopping_;  // Stays readable once the kernel is to end.
  std::thread control_thread_;
  std::thread heartbeat_thread_;
  Output output_;
  std::unique_ptr<WhileStarting> starting_;
};

}  // namespace xleak::kernel
