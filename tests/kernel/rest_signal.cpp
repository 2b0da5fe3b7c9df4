#include "xeus/rest_signal.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using xleak::kernel::note_rest;
using xleak::kernel::RestSignal;
using namespace std::chrono_literals;

// Whoever waits for it has been forgotten: the test does not end.
constexpr auto kForEver = 1h;

TEST_CASE("who waits is woken when the kernel rests") {
  RestSignal signal(1ms, kForEver);
  note_rest(false);
  std::thread waits([&] { signal.wait(); });
  signal.set(/*at_once=*/false);
  note_rest(true);
  waits.join();
}

TEST_CASE("a signal that was set in a rest wakes until it is cleared") {
  RestSignal signal(1ms, kForEver);
  note_rest(true);
  signal.set(/*at_once=*/false);
  signal.wait();
  signal.wait();
  signal.clear();
  std::atomic<bool> woken{false};
  std::thread waits([&] {
    signal.wait();
    woken = true;
  });
  CHECK_FALSE(woken);
  signal.set(false);
  waits.join();
}

TEST_CASE("who waits is woken in a long cell too, and where one cell follows another") {
  RestSignal signal(kForEver, 1ms);
  for (const bool rests : {false, true}) {
    note_rest(rests);
    signal.set(/*at_once=*/false);
    signal.wait();
  }
}

TEST_CASE("a thread that is to end waits for no cell") {
  RestSignal signal(kForEver, kForEver);
  note_rest(false);
  std::thread waits([&] { signal.wait(); });
  signal.set(/*at_once=*/true);
  waits.join();
}
