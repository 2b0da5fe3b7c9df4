#pragma once
#include <array>
#include <cerrno>
#include <chrono>

#include "zmq.hpp"

namespace xleak::kernel {

constexpr std::chrono::milliseconds kForEver{-1};

inline zmq::pollitem_t readable(zmq::socket_t& socket) {
  return {socket.handle(), 0, ZMQ_POLLIN, 0};
}
inline zmq::pollitem_t readable(int descriptor) { return {nullptr, descriptor, ZMQ_POLLIN, 0}; }

/// Returns when one of `items` can be read, or `patience` is over.
template <std::size_t count>
void wait_for_one(std::array<zmq::pollitem_t, count>& items, std::chrono::milliseconds patience) {
  try {
    zmq::poll(items.data(), items.size(), patience);
  } catch (const zmq::error_t& error) {
    // A debugger that attaches interrupts the wait, though signals go elsewhere.
    if (error.num() != EINTR) throw;
  }
}

}  // namespace xleak::kernel
