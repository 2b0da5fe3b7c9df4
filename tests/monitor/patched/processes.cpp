#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "installed.hpp"

using namespace xleak::monitor;

namespace {

/// Allocates and frees until the end of the scope.
class Churn {
 public:
  explicit Churn(int threads) {
    for (int thread = 0; thread < threads; ++thread) {
      threads_.emplace_back([this] {
        while (!ended_) {
          std::free(kept(std::malloc(kMiB)));
          // fork() has to win the lock of each arena of glibc's.
          std::this_thread::yield();
        }
      });
    }
  }
  ~Churn() {
    ended_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

 private:
  std::atomic<bool> ended_{false};
  std::vector<std::thread> threads_;
};

/// What a child's function returns, which runs in a fork.
template <class F>
int in_child(F child) {
  const pid_t id = ::fork();
  if (id == 0) ::_exit(child());
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string first_line_of(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 512> line{};
  const bool said = std::fgets(line.data(), line.size(), pipe) != nullptr;
  ::pclose(pipe);
  return said ? line.data() : "";
}

std::string state_under(const std::string& before) {
  return first_line_of(before + " " + XLEAK_SAY_STATE + " 2>/dev/null");
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// The same calls, counted by the test itself.
class OwnCount {
 public:
  void run(unsigned seed, int steps) {
    std::mt19937 random(seed);
    std::array<Block, 8> blocks{};
    for (int step = 0; step < steps; ++step) {
      Block& block = blocks[random() % blocks.size()];
      const std::size_t bytes = (16 << 10) + random() % (2 * kMiB);
      change(block, bytes, random() % 4);
    }
    // Half of them stay.
    for (std::size_t at = 0; at < blocks.size(); at += 2) change(blocks[at], 0, 0);
  }
  std::int64_t alive_bytes() const { return alive_bytes_; }

 private:
  struct Block {
    void* address = nullptr;
    std::size_t bytes = 0;
  };

  void change(Block& block, std::size_t bytes, unsigned way) {
    count(block, -1);
    if (way == 3 && bytes != 0) {
      block.address = std::realloc(block.address, bytes);
    } else {
      std::free(block.address);
      block.address = bytes == 0 ? nullptr : way == 1 ? std::calloc(1, bytes) : std::malloc(bytes);
    }
    block.address = kept(block.address);
    block.bytes = bytes;
    count(block, 1);
  }
  void count(const Block& block, std::int64_t sign) {
    if (block.address != nullptr && block.bytes >= (64 << 10)) {
      alive_bytes_ += sign * static_cast<std::int64_t>(block.bytes);
    }
  }

  std::atomic<std::int64_t> alive_bytes_{0};
};

}  // namespace

TEST_SUITE("processes") {
  TEST_CASE("64 threads: sums and list agree with what the threads counted themselves") {
    const Installed installed;
    const auto before = block_sums().alive_bytes;
    OwnCount own;
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 64; ++thread) {
      threads.emplace_back([&own, thread] { own.run(thread, 300); });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(own.alive_bytes() > 0);
    CHECK(block_sums().alive_bytes - before == own.alive_bytes());
    std::int64_t listed = 0;
    for (const LargeBlock& block : living_blocks()) {
      if (block.kind == BlockKind::heap) listed += block.bytes;
    }
    CHECK(listed == block_sums().alive_bytes);
  }

  TEST_CASE("it is installed and taken out under load") {
    const Churn churn(3);
    for (int round = 0; round < 100; ++round) {
      const Installed installed;
      CHECK(living_blocks().size() < 1000);
    }
  }

  TEST_CASE("a forked child has it off, says so, and allocates as ever") {
    const Installed installed;
    const int status = in_child([] {
      void* const block = kept(std::malloc(kMiB));
      std::free(block);
      const bool off = !ledger_state().installed && !install_ledger().installed &&
                       contains(ledger_state().reason, "forked") && living_blocks().empty() &&
                       block_sums().alive_bytes == 0;
      uninstall_ledger();
      return off ? 7 : 8;
    });
    CHECK(status == 7);
    CHECK(ledger_state().installed);
    void* const block = kept(std::malloc(kMiB));
    CHECK(known(block));
    std::free(block);
  }

  TEST_CASE("200 forks from a thread while others allocate all come to their end") {
    const Installed installed;
    const Churn churn(2);
    std::atomic<int> good{0};
    std::thread forking([&good] {
      for (int round = 0; round < 200; ++round) {
        good += in_child([] {
                  std::free(kept(std::malloc(kMiB)));
                  void* const pages = ::mmap(nullptr, kMiB, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                  return pages != MAP_FAILED && ::munmap(pages, kMiB) == 0 ? 7 : 8;
                }) == 7;
      }
    });
    forking.join();
    CHECK(good == 200);
  }

  TEST_CASE("a signal handler may map and unmap in the middle of an allocation") {
    const Installed installed;
    const auto handler = [](int) {
      void* const pages =
          ::mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ::munmap(pages, kMiB);
    };
    const auto before = std::signal(SIGALRM, handler);
    const itimerval each_50_us{{0, 50}, {0, 50}};
    ::setitimer(ITIMER_REAL, &each_50_us, nullptr);
    for (int round = 0; round < 100'000; ++round) std::free(kept(std::malloc(kMiB)));
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    std::signal(SIGALRM, before);
    CHECK(block_sums().alive_bytes >= 0);
    CHECK(block_sums().mapped_bytes == 0);
  }

  TEST_CASE("with nothing in its way it is installed") { CHECK(state_under("") == "installed\n"); }

  TEST_CASE("an allocator that was loaded before libc is left alone, and named") {
    const auto said = state_under(std::string("LD_PRELOAD=") + XLEAK_PRELOADED_LIBRARY);
    CAPTURE(said);
    CHECK(contains(said, "malloc is not libc's but that of libxleak_preloaded.so"));
  }

  TEST_CASE("glibc's own allocator for debugging is left alone") {
    const auto said = state_under("LD_PRELOAD=libc_malloc_debug.so.0");
    CAPTURE(said);
    CHECK(contains(said, "libc_malloc_debug"));
  }

  TEST_CASE("the runtime of a sanitizer is left alone") {
    const auto runtime =
        first_line_of(std::string(XLEAK_COMPILER) + " -print-file-name=libasan.so");
    if (runtime.find('/') == std::string::npos) {
      MESSAGE("not tried: the compiler has no libasan.so");
      return;
    }
    const auto said = state_under("ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=" +
                                  runtime.substr(0, runtime.size() - 1));
    CAPTURE(said);
    CHECK(contains(said, "sanitizer"));
  }

  TEST_CASE("valgrind is left alone") {
    if (std::system("command -v valgrind >/dev/null") != 0) {
      MESSAGE("not tried: there is no valgrind");
      return;
    }
    const auto said = state_under("valgrind -q");
    CAPTURE(said);
    CHECK(contains(said, "valgrind"));
  }
}
