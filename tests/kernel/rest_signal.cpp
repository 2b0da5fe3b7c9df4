#include "xeus/rest_signal.hpp"

#include <doctest/doctest.h>

#include <thread>

using xleak::kernel::note_rest;
using xleak::kernel::RestSignal;

TEST_CASE("who waits is woken when the kernel rests, and stays so until it is cleared") {
  RestSignal signal;
  note_rest(false);
  std::thread waits([&] { signal.wait(); });
  signal.set(/*at_once=*/false);
  note_rest(true);
  waits.join();
  signal.wait();
  signal.clear();
  std::thread again([&] { signal.wait(); });
  signal.set(false);
  again.join();
}

TEST_CASE("who waits is woken in a long cell too") {
  RestSignal signal;
  note_rest(false);
  signal.set(/*at_once=*/false);
  signal.wait();
  note_rest(true);
}

TEST_CASE("a thread that is to end waits for no cell") {
  RestSignal signal;
  note_rest(false);
  std::thread waits([&] { signal.wait(); });
  signal.set(/*at_once=*/true);
  waits.join();
  note_rest(true);
}
