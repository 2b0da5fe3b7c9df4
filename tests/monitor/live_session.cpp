#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "probes/heap.hpp"
#include "scripted_probes.hpp"
#include "units.hpp"

using namespace xleak::monitor;

namespace {

// Two per cent of 64 MiB: what the counters of the kernel and of malloc may lag.
constexpr std::int64_t kSlackBytes = kMiB + kMiB / 4;

void* written_block(std::int64_t bytes) {
  void* block = std::malloc(static_cast<std::size_t>(bytes));
  REQUIRE(block != nullptr);
  std::memset(block, 1, static_cast<std::size_t>(bytes));
  // Else the compiler leaves out a block that is written and freed but never read.
  asm volatile("" : : "r"(block) : "memory");
  return block;
}

}  // namespace

TEST_SUITE("live session") {
  TEST_CASE("256 MiB taken and given back is a peak and nothing kept") {
    Session session;
    const int index = session.begin_cell({}, {});
    std::free(written_block(256 * kMiB));
    session.end_cell(index, CellStatus::ok, std::nullopt, {});
    const auto record = session.record(index).value();
    CHECK(record.resident_peak_bytes.value() - record.resident_before_bytes.value() >=
          256 * kMiB - kSlackBytes);
    if (!try_read_heap()) return;  // A sanitizer keeps freed blocks on purpose.
    CHECK(record.resident_after_bytes.value() - record.resident_before_bytes.value() <=
          kSlackBytes);
    CHECK(std::abs(record.heap_kept_bytes.value()) <= kSlackBytes);
  }

  TEST_CASE("cells of many threads are all recorded") {
    Session session;
    constexpr int kThreads = 4;
    constexpr int kCells = 50;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&session] {
        for (int i = 0; i < kCells; ++i) {
          const int index = session.begin_cell({}, {});
          session.judge({});
          session.end_cell(index, CellStatus::ok, std::nullopt, {});
          static_cast<void>(session.records());
          static_cast<void>(session.findings());
        }
      });
    }
    for (auto& thread : threads) thread.join();
    const auto records = session.records();
    REQUIRE(records.size() == kThreads * kCells);
    for (const auto& record : records) CHECK(record.status == CellStatus::ok);
  }

  TEST_CASE("a forked child neither waits nor records while cells run in the parent") {
    Session session;
    std::atomic<bool> stopping{false};
    // Takes the lock all the time, so that a fork falls into it.
    std::thread busy([&] {
      while (!stopping) {
        session.end_cell(session.begin_cell({}, {}), CellStatus::ok, std::nullopt, {});
      }
    });
    const int running = session.begin_cell({}, {});
    for (int i = 0; i < 50; ++i) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::alarm(20);  // A child that waits for a lock dies of it and fails the test.
        session.end_cell(running, CellStatus::error, std::nullopt, {});
        const bool quiet = session.begin_cell({}, {}) == 0 && session.records().empty() &&
                           session.findings().empty() && !session.record(running);
        session.set_enabled(false);
        ::_exit(quiet ? 0 : 1);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 0);
    }
    stopping = true;
    busy.join();
    CHECK(session.record(running)->status == CellStatus::running);
    CHECK(session.enabled());
  }

  TEST_CASE("a forked child may destroy a session") {
    auto session = std::make_unique<Session>();
    session->begin_cell({}, {});
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::alarm(20);
      session.reset();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
  }

  TEST_CASE("the session of the process is one") {
    CHECK(&Session::instance() == &Session::instance());
  }
}
