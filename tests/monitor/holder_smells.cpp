#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder traceback(std::int64_t bytes) {
  return {"traceback", "the last traceback",         bytes, 4, "local pair",
          1,           "%release_cache --tracebacks"};
}

Holder figures(int count, std::int64_t bytes) {
  return {"figures", "pyplot's open figures", bytes, {}, "Figure", count, "plt.close('all')"};
}

Holder method_cache(int objects) {
  return {"method cache",
          "Volume.level",
          8 * kMiB,
          {},
          "Volume",
          objects,
          "Volume.level.cache_clear()"};
}

}  // namespace

TEST_SUITE("holder_smells") {
  TEST_CASE("a traceback is told with its cell, its bytes, the local and what to type") {
    const auto findings = detect("XL402", traceback(15 * kMiB));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cell == 6);
    CHECK(findings[0].cause_cell == 4);
    CHECK(findings[0].bytes == 15 * kMiB);
    CHECK(findings[0].path == std::vector<std::string>{"the last traceback", "local pair"});
    CHECK(findings[0].message ==
          "The traceback of the last error keeps 15 MiB alive, most of it by local pair; no name "
          "reaches it. Free it with `%release_cache --tracebacks`, or catch the error.");
    CHECK(findings[0].fixes[0].code == "%release_cache --tracebacks");
  }

  TEST_CASE("holders are reported from 1 MiB on") {
    CHECK(detect("XL402", traceback(kMiB)).size() == 1);
    CHECK(detect("XL402", traceback(kMiB - 1)).empty());
  }

  TEST_CASE("a holder of another kind is another smell's") {
    for (const char* code : {"XL403", "XL404", "XL405"})
      CHECK(detect(code, traceback(15 * kMiB)).empty());
  }

  TEST_CASE("twenty open figures are not too many, and three are where they are large") {
    CHECK(detect("XL405", figures(20, 15 * kMiB)).empty());
    const auto findings = detect("XL405", figures(21, 15 * kMiB));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.find("21 open figures keep 15 MiB") == 0);
    CHECK(detect("XL405", figures(2, 40 * kMiB)).empty());
    CHECK(detect("XL405", figures(3, 16 * kMiB)).size() == 1);
  }

  TEST_CASE("a method's cache without an object of the class is no leak of this kind") {
    CHECK(detect("XL404", method_cache(0)).empty());
    CHECK(detect("XL404", method_cache(1))[0].message.find("keeps 1 Volume object and 8 MiB") !=
          std::string::npos);
    CHECK(detect("XL404", method_cache(3))[0].message.find("keeps 3 Volume objects") !=
          std::string::npos);
  }

  TEST_CASE("graphs are told by what their tensors are") {
    const Holder losses{
        "graphs of scalars",     "curve['valid']", 3 * kMiB, 2, "autograd graphs", 5,
        "curve['valid'].clear()"};
    const auto findings = detect("XL102", losses);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cause_cell == 2);
    CHECK(findings[0].key == "curve['valid']");
    CHECK(findings[0].message.find("5 losses in curve['valid'] keep 3 MiB alive") == 0);
    CHECK(detect("XL101", losses).empty());
  }

  TEST_CASE("a stored exception is told by the expression that leads to it") {
    const auto findings = detect("XL403", {"exception",
                                           "failures[0]",
                                           15 * kMiB,
                                           {},
                                           "ValueError",
                                           2,
                                           "failures[0].__traceback__ = None"});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].key == "failures[0]");
    CHECK(findings[0].fixes[0].code == "failures[0].__traceback__ = None");
  }
}
