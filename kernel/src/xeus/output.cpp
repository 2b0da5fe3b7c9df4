#include "output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "forked.hpp"
#include "threads.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::kernel {

using monitor::OwnDescriptor;

namespace {

// Short enough to look immediate, long enough to join the prints of a loop.
constexpr auto kFlushInterval = std::chrono::milliseconds(50);
// A message above this is published at once, so that a flood of text cannot pile up.
constexpr std::size_t kLargeMessage = 1 << 18;
// Room for a burst of native output while the reader is busy; the limit for ordinary users.
constexpr int kPipeBytes = 1 << 20;
constexpr int kMostMilliseconds = 1000;

void write_fully(int descriptor, const char* text, std::size_t size) {
  while (size > 0) {
    const auto written = ::write(descriptor, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

// How many bytes at the end start a UTF-8 character that is not complete.
std::size_t incomplete_tail(const std::string& text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

OwnDescriptor capture(int descriptor, OwnDescriptor& original) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) monitor::throw_errno("cannot make a pipe for output");
  original = OwnDescriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  ::dup2(ends[1], descriptor);
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  ::fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
  return OwnDescriptor(ends[0]);
}

}  // namespace

Output::Output() = default;

Output::~Output() { stop(); }

int Output::original_stderr() const noexcept {
  const int original = originals_[1].number();
  return original >= 0 ? original : STDERR_FILENO;
}

void Output::set_publisher(Publisher publisher) {
  std::lock_guard<std::mutex> lock(mutex_);
  publisher_ = std::move(publisher);
}

void Output::start() {
  // Into a pipe the C library would hold text back until 4 KiB have come.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  {
    // Requests are answered on other threads already.
    std::lock_guard<std::mutex> lock(mutex_);
    for (int index : {0, 1}) pipes_[index] = capture(index + 1, originals_[index]);
  }
  wake_ = OwnDescriptor(::eventfd(0, EFD_CLOEXEC));
  reader_ = start_thread([this] { read_pipes(); });
  flusher_ = start_thread([this] { publish_in_time(); });
}

void Output::stop() {
  if (!reader_.joinable() || in_forked_child()) return;
  flush();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  ::eventfd_write(wake_.number(), 1);
  reader_.join();
  flusher_.join();
  for (int index : {0, 1}) {
    ::dup2(originals_[index].number(), index + 1);
    originals_[index].close();
    pipes_[index].close();
  }
  wake_.close();
}

void Output::write(int descriptor, const char* text, std::size_t size) {
  if (in_forked_child() || !reader_.joinable()) return write_fully(descriptor, text, size);
  std::lock_guard<std::mutex> lock(mutex_);
  drain_pipes();
  append(descriptor, text, size);
}

void Output::append(int descriptor, const char* text, std::size_t size) {
  if (size == 0) return;
  if (chunks_.empty() || chunks_.back().descriptor != descriptor) {
    if (chunks_.empty()) arrived_.notify_one();
    chunks_.push_back({descriptor, {}});
  }
  chunks_.back().text.append(text, size);
  pending_bytes_ += size;
  if (pending_bytes_ > kLargeMessage) publish_chunks();
}

void Output::drain_pipes() {
  for (int index : {0, 1}) drain_pipe(index);
}

void Output::drain_pipe(int index) {
  const int pipe = pipes_[index].number();
  if (pipe < 0) return;
  // What came before this moment, no more: a fast writer would hold us here for ever.
  int waiting = 0;
  ::ioctl(pipe, FIONREAD, &waiting);
  std::array<char, 65536> buffer;
  while (waiting > 0) {
    const auto got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    waiting -= static_cast<int>(got);
    std::string text = std::move(incomplete_[index]);
    text.append(buffer.data(), static_cast<std::size_t>(got));
    const auto tail = incomplete_tail(text);
    incomplete_[index] = text.substr(text.size() - tail);
    append(index + 1, text.data(), text.size() - tail);
  }
}

void Output::flush() {
  if (in_forked_child()) return;
  std::fflush(stdout);
  std::lock_guard<std::mutex> lock(mutex_);
  drain_pipes();
  publish_chunks();
}

void Output::publish_chunks() {
  for (Chunk& chunk : chunks_) {
    if (publisher_)
      publisher_(chunk.descriptor == 1 ? "stdout" : "stderr", std::move(chunk.text), parent_);
  }
  chunks_.clear();
  pending_bytes_ = 0;
}

void Output::set_parent(nlohmann::json header) {
  flush();
  std::lock_guard<std::mutex> lock(mutex_);
  parent_ = std::move(header);
}

void Output::read_pipes() {
  for (;;) {
    // A negative number is passed over.
    std::array<pollfd, 3> items{{{pipes_[0].number(), POLLIN, 0},
                                 {pipes_[1].number(), POLLIN, 0},
                                 {wake_.number(), POLLIN, 0}}};
    // Where the user closed what wakes it, it sees by itself that the kernel ends.
    if (::poll(items.data(), items.size(), kMostMilliseconds) < 0 && errno != EINTR) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;
    drain_pipes();
  }
}

void Output::publish_in_time() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    arrived_.wait(lock, [this] { return stopping_ || !chunks_.empty(); });
    arrived_.wait_for(lock, kFlushInterval, [this] { return stopping_; });
    publish_chunks();
  }
}

}  // namespace xleak::kernel
