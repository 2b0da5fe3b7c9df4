#pragma once
#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "seen_signatures.hpp"
#include "xeus/xauthentication.hpp"
#include "xeus/xkernel_configuration.hpp"
#include "xeus/xmessage.hpp"
#include "xeus/xzmq_serializer.hpp"
#include "xleak/monitor/own_descriptor.hpp"
#include "zmq.hpp"
#include "zmq_addon.hpp"

namespace xleak::kernel {

/// The five sockets of a kernel, and messages on them by xeus's own serializer and signature.
/// Each socket but iopub belongs to one thread; iopub may be used from every thread.
class Channels {
 public:
  Channels(zmq::context_t& context, const xeus::xconfiguration& config);

  zmq::socket_t shell;
  zmq::socket_t control;
  zmq::socket_t stdin_;
  zmq::socket_t heartbeat;

  /// The next message, or empty when there is none. What is malformed or wrongly signed is dropped,
  /// and so is what came before, on whichever socket.
  std::optional<xeus::xmessage> receive(zmq::socket_t& socket);
  /// Says on the terminal that a message was dropped, and why.
  void tell_dropped(const std::string& why) const;
  void send(zmq::socket_t& socket, xeus::xmessage message);
  /// Sends a heartbeat back where one has come.
  void answer_heartbeat();
  void publish(xeus::xpub_message message);
  /// Publishes parts that are already on the wire's form, as the debugger's client makes them.
  void publish_raw(zmq::multipart_t& parts);
  /// The topics that front ends have newly subscribed to on iopub, some at a time.
  std::vector<std::string> new_subscriptions();
  /// One of them can be read while new_subscriptions() has something to return.
  std::array<int, 2> subscription_descriptors();
  /// Lets queued messages leave for a moment, then closes.
  void close();

 private:
  xeus::xmessage checked(zmq::multipart_t wire);

  std::unique_ptr<xeus::xauthentication> authentication_;
  std::size_t signature_size_;  // 0: nothing is signed.
  SeenSignatures seen_;
  std::mutex iopub_mutex_;
  zmq::socket_t iopub_;
  monitor::OwnDescriptor
      subscribed_;  // An eventfd for subscriptions that ZeroMQ's descriptor no longer signals.
  monitor::OwnDescriptor terminal_;  // stderr as it was before output is captured.
};

/// Waits until `socket` can be read or `milliseconds` passed (-1: for ever). A signal ends the wait
/// early.
bool wait_readable(zmq::socket_t& socket, long milliseconds);

}  // namespace xleak::kernel
