#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <thread>

#include "channels.hpp"

namespace xleak::kernel {

/// Serves the sockets on a thread of its own while Python imports IPython: whoever asks what the
/// kernel is has an answer at once, and all other requests are kept for later. Needs no GIL.
class WhileStarting {
 public:
  /// Answers a request that came on this socket. False: it has to wait.
  using Answer = std::function<bool(const xeus::xmessage&, zmq::socket_t&)>;

  /// `answer` needs no Python. `welcome` is called when a front end may have subscribed to iopub.
  WhileStarting(Channels& channels, Answer answer, std::function<void()> welcome);
  ~WhileStarting();
  WhileStarting(const WhileStarting&) = delete;
  WhileStarting& operator=(const WhileStarting&) = delete;

  /// Ends the thread. The sockets are the caller's from here on.
  void end();
  /// Whether a request on the shell channel is kept. Any thread.
  bool keeps_one() const noexcept { return keeps_one_; }

  /// What was kept, in the order of its coming; after end().
  std::deque<xeus::xmessage> kept_on_shell;
  std::deque<xeus::xmessage> kept_on_control;

 private:
  void serve();
  void take_in(zmq::socket_t& socket, std::deque<xeus::xmessage>& kept);

  Channels& channels_;
  Answer answer_;
  std::function<void()> welcome_;
  std::atomic<bool> keeps_one_{false};
  int ending_;
  std::thread thread_;
};

}  // namespace xleak::kernel
