#include "peak_sampler.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

using namespace xleak::monitor;
using namespace std::chrono_literals;

namespace {

/// A reader that counts, so that a test can wait for samples instead of hoping for them.
struct CountedReader {
  std::atomic<std::int64_t> bytes{100};
  std::atomic<int> reads{0};

  PeakSampler::Read reader() {
    return [this] {
      const std::int64_t now = bytes;
      ++reads;
      return std::optional(now);
    };
  }
  /// Until a sample that began after this call is in.
  void await_sample() const {
    const int target = reads + 2;
    while (reads < target) std::this_thread::yield();
  }
};

void await_parked(const PeakSampler& sampler) {
  while (!sampler.parked()) std::this_thread::yield();
}

}  // namespace

TEST_SUITE("peak_sampler") {
  TEST_CASE("sees a peak that is gone at the end") {
    CountedReader memory;
    PeakSampler sampler(memory.reader());
    sampler.start(1);
    memory.bytes = 900;
    memory.await_sample();
    memory.bytes = 100;
    CHECK(sampler.stop(1) == 900);
  }

  TEST_CASE("a cell knows no peak from before its start") {
    CountedReader memory;
    PeakSampler sampler(memory.reader());
    sampler.start(1);
    memory.bytes = 900;
    memory.await_sample();
    memory.bytes = 100;
    memory.await_sample();
    sampler.start(2);
    memory.await_sample();
    CHECK(sampler.stop(2) == 100);
    CHECK(sampler.stop(1) == 900);
  }

  TEST_CASE("a cell that is not followed has no peak") {
    CountedReader memory;
    PeakSampler sampler(memory.reader());
    CHECK_FALSE(sampler.stop(1));
    sampler.start(1);
    sampler.stop(1);
    CHECK_FALSE(sampler.stop(1));
  }

  TEST_CASE("nothing runs between cells") {
    CountedReader memory;
    PeakSampler sampler(memory.reader());
    CHECK(sampler.parked());
    sampler.start(1);
    memory.await_sample();
    CHECK_FALSE(sampler.parked());
    sampler.stop(1);
    await_parked(sampler);
    const int reads = memory.reads;
    std::this_thread::sleep_for(30ms);
    CHECK(memory.reads == reads);
  }

  TEST_CASE("a parked sampler wakes for the next cell") {
    CountedReader memory;
    PeakSampler sampler(memory.reader());
    sampler.start(1);
    sampler.stop(1);
    await_parked(sampler);
    sampler.start(2);
    memory.await_sample();
    CHECK(sampler.stop(2) == 100);
  }

  TEST_CASE("a cell that runs is told at most every 250 ms, and not before the first") {
    CountedReader memory;
    std::mutex mutex;
    std::vector<double> seconds;
    PeakSampler sampler(memory.reader());
    sampler.follow([&](int cell, double at, std::int64_t bytes) {
      const std::lock_guard lock(mutex);
      CHECK(cell == 1);
      CHECK(bytes == 100);
      seconds.push_back(at);
    });
    const auto told = [&] {
      const std::lock_guard lock(mutex);
      return seconds;
    };
    sampler.start(1);
    while (told().size() < 2) std::this_thread::yield();
    sampler.stop(1);
    CHECK(told()[0] >= 0.25);
    CHECK(told()[1] - told()[0] >= 0.25);
  }

  TEST_CASE("nobody is told of a cell once nobody follows") {
    CountedReader memory;
    std::atomic<int> told{0};
    PeakSampler sampler(memory.reader());
    sampler.follow([&](int, double, std::int64_t) { ++told; });
    sampler.follow(nullptr);
    sampler.start(1);
    std::this_thread::sleep_for(300ms);
    memory.await_sample();
    sampler.stop(1);
    CHECK(told == 0);
  }

  TEST_CASE("a cell that runs beats, from 100 ms on and until nobody listens") {
    CountedReader memory;
    std::atomic<int> beats{0};
    PeakSampler sampler(memory.reader());
    sampler.beat_by([&] { ++beats; });
    const auto began = std::chrono::steady_clock::now();
    sampler.start(1);
    while (beats == 0) std::this_thread::yield();
    CHECK(std::chrono::steady_clock::now() - began >= 100ms);
    while (beats < 3) std::this_thread::yield();
    CHECK(std::chrono::steady_clock::now() - began >= 200ms);
    sampler.beat_by(nullptr);
    memory.await_sample();
    const int before = beats;
    std::this_thread::sleep_for(120ms);
    CHECK(beats == before);
    sampler.stop(1);
  }

  TEST_CASE("the sampling thread takes no signals") {
    std::atomic<bool> blocked{false};
    std::atomic<bool> seen{false};
    {
      PeakSampler sampler([&] {
        sigset_t mask;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGUSR1) == 1;
        seen = true;
        return std::optional<std::int64_t>(1);
      });
      sampler.start(1);
      while (!seen) std::this_thread::yield();
    }
    CHECK(blocked);
    sigset_t mine;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    CHECK(sigismember(&mine, SIGINT) == 0);
  }

  TEST_CASE("a reading that fails is no sample") {
    std::atomic<int> reads{0};
    PeakSampler sampler([&]() -> std::optional<std::int64_t> {
      ++reads;
      return std::nullopt;
    });
    sampler.start(1);
    while (reads < 2) std::this_thread::yield();
    CHECK_FALSE(sampler.stop(1));
  }
}
