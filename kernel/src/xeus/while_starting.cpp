#include "while_starting.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include "forked.hpp"
#include "polling.hpp"
#include "threads.hpp"

namespace xleak::kernel {

WhileStarting::WhileStarting(Channels& channels, Answer answer, std::function<void()> welcome)
    : channels_(channels),
      answer_(std::move(answer)),
      welcome_(std::move(welcome)),
      ending_(::eventfd(0, EFD_CLOEXEC)),
      thread_(start_thread([this] { serve(); })) {}

WhileStarting::~WhileStarting() {
  end();
  ::close(ending_);
}

void WhileStarting::end() {
  // The thread is the parent's.
  if (!thread_.joinable() || in_forked_child()) return;
  ::eventfd_write(ending_, 1);
  thread_.join();
}

void WhileStarting::serve() {
  const auto subscriptions = channels_.subscription_descriptors();
  std::array<zmq::pollitem_t, 6> items{readable(channels_.shell),     readable(channels_.control),
                                       readable(channels_.heartbeat), readable(subscriptions[0]),
                                       readable(subscriptions[1]),    readable(ending_)};
  while ((items.back().revents & ZMQ_POLLIN) == 0) {
    wait_for_one(items, kForEver);
    welcome_();
    take_in(channels_.control, kept_on_control);
    take_in(channels_.shell, kept_on_shell);
    keeps_one_ = !kept_on_shell.empty();
    channels_.answer_heartbeat();
  }
}

void WhileStarting::take_in(zmq::socket_t& socket, std::deque<xeus::xmessage>& kept) {
  while (auto request = channels_.receive(socket)) {
    // Replies come in the order of their requests.
    if (!kept.empty() || !answer_(*request, socket)) kept.push_back(std::move(*request));
  }
}

}  // namespace xleak::kernel
