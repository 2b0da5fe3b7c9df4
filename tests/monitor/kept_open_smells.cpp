#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

TEST_SUITE("kept_open_smells") {
  TEST_CASE("files that each run leaves open are an error, without bytes") {
    const Holder files{"files of runs",
                       "open files, from cell 3 on",
                       0,
                       3,
                       "0.csv",
                       2,
                       "[it.close() for it in logs if id(it) in {7}];"};
    const auto findings = detect("XL505", files);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::error);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].cause_cell == 3);
    CHECK(findings[0].fixes[0].code == files.release);
    CHECK(findings[0].message.find("2 by now, such as 0.csv") != std::string::npos);
  }

  TEST_CASE("many files of one run are a warning, and closed by hand where no code is exact") {
    const Holder files{"files", "open files, from cell 3 on", 0, 3, "0.csv", 60, ""};
    const auto findings = detect("XL505", files);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::warning);
    CHECK(findings[0].fixes.empty());
  }

  TEST_CASE("a failed second attempt is told with what the first one kept, from a mebibyte on") {
    Holder attempt{
        "failed attempt", "the error that cell 4 was handling", 3 << 20, 4, "OutOfMemoryError", 1,
        "%release_cache"};
    const auto findings = detect("XL620", attempt);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 3 << 20);
    CHECK(findings[0].message.find("OutOfMemoryError still kept 3.0 MiB") != std::string::npos);
    attempt.held_bytes = 1 << 19;
    CHECK(detect("XL620", attempt).empty());
  }

  TEST_CASE("waiting workers of a search are a note, as long as they leave room") {
    const Holder workers{
        "search workers",      "the workers of joblib, from cell 2 on", 0, 2, "worker process", 4,
        "executor.shutdown();"};
    const auto findings = detect("XL520", workers);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::note);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].message.find("4 worker processes wait") == 0);
  }

  TEST_CASE("files and workers of other kinds are other smells'") {
    const Holder loader{"workers", "batches", 0, 2, "worker process", 4, ""};
    for (const char* code : {"XL505", "XL520", "XL620"}) CHECK(detect(code, loader).empty());
  }
}
