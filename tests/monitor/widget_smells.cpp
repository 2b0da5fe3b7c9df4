#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

const Smell& stray_widgets() {
  const auto smells = all_smells();
  const auto found = std::find_if(smells.begin(), smells.end(), [](const Smell* it) {
    return it->code == std::string_view("XL414");
  });
  REQUIRE(found != smells.end());
  return **found;
}

Holder widgets(std::int64_t bytes) {
  return {"widgets", "the open widgets of In[2]", bytes, 3, "Image", 12, "close them"};
}

}  // namespace

TEST_SUITE("widget_smells") {
  TEST_CASE("widgets that nobody sees are told with their cell, their bytes and the fix") {
    const auto findings = detect("XL414", widgets(2 * kMiB));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cell == 6);
    CHECK(findings[0].cause_cell == 3);
    CHECK(findings[0].bytes == 2 * kMiB);
    CHECK(findings[0].fixes[0].code == "close them");
    CHECK(findings[0].message ==
          "12 of the open widgets of In[2] keep 2 MiB alive, most of it by Image; no name reaches "
          "them and no output shows them. Close them with the fix, and use one widget again, or "
          "type `widget.close()` before the next.");
  }

  TEST_CASE("widgets that a name leads to are the user's to close") {
    const auto findings =
        detect("XL414", {"collected widgets", "panels", 3 * kMiB, 2, "Output", 5, ""});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].key == "panels");
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].message ==
          "panels has 5 open widgets (Output), and those of earlier runs, which no output shows, "
          "keep 3 MiB alive. Type `widget.close()` for each and take it out of panels once you are "
          "done with it.");
  }

  TEST_CASE("widgets are told from 1 MiB on") {
    CHECK(detect("XL414", widgets(kMiB)).size() == 1);
    CHECK(detect("XL414", widgets(kMiB - 1)).empty());
  }

  TEST_CASE("what leaves widgets open is hygiene") {
    CHECK(stray_widgets().severity == Severity::note);
    CHECK_FALSE(detect("XL414", widgets(64 * kMiB))[0].severity);
  }
}
