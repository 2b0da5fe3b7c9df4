#include "probes/free_heap.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace xleak::monitor;

TEST_SUITE("free_heap") {
  TEST_CASE("a piece gives back what lies between its first and its last page") {
    const auto text =
        "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n"
        "  <size from=\"33\" to=\"48\" total=\"96000\" count=\"2000\"/>\n"
        "  <size from=\"1048577\" to=\"1049000\" total=\"2097152\" count=\"2\"/>\n"
        "  <unsorted from=\"16384\" to=\"16384\" total=\"16384\" count=\"1\"/>\n"
        "</sizes>\n<total type=\"rest\" count=\"9\" size=\"99999999\"/>\n</heap>\n"
        "<heap nr=\"1\"><sizes><size total=\"99999999\" count=\"1\"/></sizes></heap></malloc>";
    CHECK(trimmable_bytes(text) == 2097152 - 2 * 8192 + 16384 - 8192);
  }

  TEST_CASE("a text without pieces gives nothing back") {
    CHECK(trimmable_bytes("") == 0);
    CHECK(trimmable_bytes("<heap nr=\"0\"><sizes></sizes></heap>") == 0);
  }

  TEST_CASE("the heap's resident bytes are those below its own line") {
    std::istringstream smaps(
        "5500-5600 r-xp 0 00:00 1 /usr/bin/python\nSize: 8 kB\nRss:   4 kB\n"
        "5700-9900 rw-p 0 00:00 0                  [heap]\nSize: 900 kB\nRss:   640 kB\n"
        "7f00-7f10 rw-p 0 00:00 0\nRss:   12 kB\n");
    CHECK(resident_heap_bytes(smaps) == 640 * 1024);
  }

  TEST_CASE("without a heap it is unknown") {
    std::istringstream smaps("5500-5600 r-xp 0 00:00 1 /usr/bin/python\nRss:   4 kB\n");
    CHECK_FALSE(resident_heap_bytes(smaps));
  }
}
