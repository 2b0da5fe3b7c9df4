#pragma once
#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nlohmann/json.hpp"
#include "xleak/monitor/own_descriptor.hpp"

namespace xleak::kernel {

/// Text on its way to the front end: what Python writes to its streams and what anything writes to
/// the file descriptors 1 and 2, in the order of writing, joined into few messages.
/// Needs no GIL. In a forked child text goes to the file descriptors.
class Output {
 public:
  /// Publishes one stream message: name ("stdout", "stderr"), text, header of the request it
  /// belongs to.
  using Publisher = std::function<void(const std::string&, std::string, const nlohmann::json&)>;

  Output();
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void set_publisher(Publisher publisher);
  /// Takes over the file descriptors 1 and 2 and starts the threads.
  void start();
  /// Gives the descriptors back and ends the threads.
  void stop();

  /// `descriptor` is 1 or 2.
  void write(int descriptor, const char* text, std::size_t size);
  /// Publishes what has come so far, the file descriptors' bytes included.
  void flush();
  /// Later text belongs to this request. What came before is published under the old one.
  void set_parent(nlohmann::json header);
  /// The stderr that the kernel was started with; 2 before start().
  int original_stderr() const noexcept;

 private:
  struct Chunk {
    int descriptor;
    std::string text;
  };

  void append(int descriptor, const char* text, std::size_t size);
  void drain_pipes();
  void drain_pipe(int index);
  void publish_chunks();
  void read_pipes();
  void publish_in_time();

  Publisher publisher_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Chunk> chunks_;
  std::size_t pending_bytes_ = 0;
  std::array<std::string, 2>
      incomplete_;  // The start of a character whose other bytes are to come.
  nlohmann::json parent_ = nlohmann::json::object();
  std::array<monitor::OwnDescriptor, 2> pipes_;
  std::array<monitor::OwnDescriptor, 2> originals_;
  monitor::OwnDescriptor wake_;
  bool stopping_ = false;
  std::thread reader_;
  std::thread flusher_;
};

}  // namespace xleak::kernel
