#include "probes/heap.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace xleak::monitor;

// Debian's own Python is linked to a fixed place. Where such a program takes the address of malloc,
// that is one of its own, for every library in the process.
TEST_CASE("the heap is known where malloc has an address in the program") {
  void* (*volatile address)(std::size_t) = std::malloc;
  std::free(address(1));
  CHECK(try_read_heap());
}
