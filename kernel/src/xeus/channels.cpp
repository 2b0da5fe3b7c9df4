#include "channels.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "message_signature.hpp"
#include "xeus/xmiddleware.hpp"

namespace xleak::kernel {
namespace {

// As ipykernel: what a front end has not fetched a second after the end is given up.
constexpr int kLingerMilliseconds = 1000;
// ZeroMQ's own limit of 1000 waiting messages drops output when a front end reads slowly.
constexpr int kIopubHighWater = 100000;

// Above every topic that a kernel publishes under. ZeroMQ keeps topics in a tree with a node for
// each byte, and disconnects a peer that sends a longer one.
constexpr std::int64_t kLongestSubscription = 1024;
// How ZeroMQ marks a subscription; a zero marks its end.
constexpr char kSubscribes = 1;
constexpr int kSubscriptionsAtOnce = 100;

// Deeper than any front end nests; writing such a tree out again would overflow the stack.
constexpr int kDeepest = 500;

bool too_deep(const zmq::message_t& part) {
  int depth = 0;
  bool in_text = false;
  const auto* text = part.data<char>();
  for (std::size_t at = 0; at < part.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') ++at;
    if (in_text) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

std::size_t signature_size(const xeus::xauthentication& authentication) {
  const unsigned char byte = 0;
  const xeus::xraw_buffer nothing(&byte, 0);
  return authentication.sign(nothing, nothing, nothing, nothing).size();
}

// A signal may interrupt ZeroMQ between two parts of a message, even where it does not wait.
// Blocking signals instead would hand them to another thread, and the main thread would sleep on.
template <class Operation>
auto uninterrupted(Operation operation) {
  for (;;) {
    try {
      return operation();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
  }
}

void send_parts(zmq::socket_t& socket, zmq::multipart_t& parts) {
  while (!parts.empty()) {
    zmq::message_t part = parts.pop();
    const auto flags = parts.empty() ? zmq::send_flags::none : zmq::send_flags::sndmore;
    uninterrupted([&] { return socket.send(part, flags); });
  }
}

// Empty where no message waits.
zmq::multipart_t receive_parts(zmq::socket_t& socket) {
  zmq::multipart_t parts;
  for (bool more = true; more;) {
    zmq::message_t part;
    if (!uninterrupted([&] { return socket.recv(part, zmq::recv_flags::dontwait); })) break;
    more = part.more();
    parts.add(std::move(part));
  }
  return parts;
}

zmq::socket_t bound(zmq::context_t& context, zmq::socket_type type,
                    const xeus::xconfiguration& config, const std::string& port) {
  zmq::socket_t socket(context, type);
  if (type == zmq::socket_type::router) socket.set(zmq::sockopt::router_handover, 1);
  if (type == zmq::socket_type::xpub) {
    socket.set(zmq::sockopt::sndhwm, kIopubHighWater);
    socket.set(zmq::sockopt::maxmsgsize, kLongestSubscription);
    // Without it a second subscription to the same topic is not reported.
    socket.set(zmq::sockopt::xpub_verbose, 1);
  }
  xeus::init_socket(socket, config.m_transport, config.m_ip, port);
  socket.set(zmq::sockopt::linger, kLingerMilliseconds);
  return socket;
}

}  // namespace

Channels::Channels(zmq::context_t& context, const xeus::xconfiguration& config)
    : shell(bound(context, zmq::socket_type::router, config, config.m_shell_port)),
      control(bound(context, zmq::socket_type::router, config, config.m_control_port)),
      stdin_(bound(context, zmq::socket_type::router, config, config.m_stdin_port)),
      heartbeat(bound(context, zmq::socket_type::router, config, config.m_hb_port)),
      authentication_(make_signature(config.m_signature_scheme, config.m_key)),
      signature_size_(signature_size(*authentication_)),
      iopub_(bound(context, zmq::socket_type::xpub, config, config.m_iopub_port)),
      subscribed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      terminal_(::dup(STDERR_FILENO)) {}

// Frames of a message: identities, delimiter, signature, then the parts that are JSON, then
// buffers.
xeus::xmessage Channels::checked(zmq::multipart_t wire) {
  std::size_t delimiter = 0;
  while (delimiter < wire.size() && wire.at(delimiter).to_string_view() != "<IDS|MSG>") ++delimiter;
  if (wire.size() < delimiter + 6) throw std::runtime_error("frames are missing");
  const std::string signature = wire.at(delimiter + 1).to_string();
  // xeus compares as many bytes as there should be, whatever has come.
  if (signature_size_ != 0 && signature.size() != signature_size_)
    throw std::runtime_error("the signature has another length");
  for (std::size_t part = delimiter + 2; part < delimiter + 6; ++part) {
    if (too_deep(wire.at(part))) throw std::runtime_error("it is nested too deep");
  }
  auto message = xeus::xzmq_serializer::deserialize(wire, *authentication_);
  for (const auto* part :
       {&message.header(), &message.parent_header(), &message.metadata(), &message.content()}) {
    if (!part->is_object()) throw std::runtime_error("a part is no JSON object");
  }
  if (signature_size_ != 0 && !seen_.is_new(signature)) throw std::runtime_error("it came before");
  return message;
}

std::optional<xeus::xmessage> Channels::receive(zmq::socket_t& socket) {
  for (;;) {
    zmq::multipart_t wire = receive_parts(socket);
    if (wire.empty()) return std::nullopt;
    try {
      return checked(std::move(wire));
    } catch (const std::exception& error) {
      tell_dropped(error.what());
    }
  }
}

void Channels::tell_dropped(const std::string& why) const {
  ::dprintf(terminal_.number(),
            "xleak: dropped a message that is malformed, wrongly signed or sent again: %s\n",
            why.c_str());
}

void Channels::send(zmq::socket_t& socket, xeus::xmessage message) {
  auto wire = xeus::xzmq_serializer::serialize(std::move(message), *authentication_,
                                               nlohmann::json::error_handler_t::replace);
  send_parts(socket, wire);
}

void Channels::answer_heartbeat() {
  zmq::multipart_t ping = receive_parts(heartbeat);
  if (!ping.empty()) send_parts(heartbeat, ping);
}

void Channels::publish(xeus::xpub_message message) {
  auto wire = xeus::xzmq_serializer::serialize_iopub(std::move(message), *authentication_,
                                                     nlohmann::json::error_handler_t::replace);
  publish_raw(wire);
}

void Channels::publish_raw(zmq::multipart_t& parts) {
  std::lock_guard<std::mutex> lock(iopub_mutex_);
  if (!iopub_) return;
  send_parts(iopub_, parts);
  // Sending also reads what has come, and the socket's descriptor no longer signals it.
  const int events = uninterrupted([&] { return iopub_.get(zmq::sockopt::events); });
  if ((events & ZMQ_POLLIN) != 0) ::eventfd_write(subscribed_.number(), 1);
}

std::vector<std::string> Channels::new_subscriptions() {
  std::vector<std::string> topics;
  std::lock_guard<std::mutex> lock(iopub_mutex_);
  std::uint64_t count;
  (void)!::read(subscribed_.number(), &count, sizeof count);
  for (int frames = 0; iopub_; ++frames) {
    // Publishers wait for this lock.
    if (frames == kSubscriptionsAtOnce) {
      ::eventfd_write(subscribed_.number(), 1);
      break;
    }
    zmq::message_t event;
    if (!uninterrupted([&] { return iopub_.recv(event, zmq::recv_flags::dontwait); })) break;
    const auto text = event.to_string_view();
    if (!text.empty() && text.front() == kSubscribes) topics.emplace_back(text.substr(1));
  }
  return topics;
}

std::array<int, 2> Channels::subscription_descriptors() {
  return {iopub_.get(zmq::sockopt::fd), subscribed_.number()};
}

void Channels::close() {
  std::lock_guard<std::mutex> lock(iopub_mutex_);
  for (zmq::socket_t* socket : {&shell, &control, &stdin_, &heartbeat, &iopub_}) socket->close();
}

bool wait_readable(zmq::socket_t& socket, long milliseconds) {
  zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
  const auto poll = [&] { return zmq::poll(&item, 1, std::chrono::milliseconds(milliseconds)); };
  try {
    // Where nothing is waited for there is nothing to end early: the answer must be right, since
    // what ZeroMQ has taken in does not make the descriptor of its socket readable again.
    milliseconds == 0 ? uninterrupted(poll) : poll();
  } catch (const zmq::error_t& error) {
    if (error.num() != EINTR) throw;
    return false;
  }
  return (item.revents & ZMQ_POLLIN) != 0;
}

}  // namespace xleak::kernel
