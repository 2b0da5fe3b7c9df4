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
    CHECK(findings[0].message.find("written") == std::string::npos);
  }

  TEST_CASE("lost writes are mentioned only where something was written") {
    const Holder files{"written files of runs", "open files", 0, 3, "0.csv", 2, ""};
    const auto findings = detect("XL505", files);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::error);
    CHECK(findings[0].message.find("what was written last may not be in it") != std::string::npos);
  }

  TEST_CASE("many files of one run are a warning, and closed by hand where no code is exact") {
    const Holder files{"files", "open files, from cell 3 on", 0, 3, "0.csv", 60, ""};
    const auto findings = detect("XL505", files);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].severity);
    CHECK(findings[0].fixes.empty());
  }

  TEST_CASE("a failed second attempt is told with what the first one kept, from a mebibyte on") {
    Holder attempt{"failed attempt",
                   "the error that cell 4 was handling",
                   3 * kMiB,
                   4,
                   "OutOfMemoryError",
                   1,
                   "%release_cache --tracebacks"};
    const auto findings = detect("XL620", attempt);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].bytes == 3 * kMiB);
    CHECK(findings[0].message.find("OutOfMemoryError still kept 3 MiB") != std::string::npos);
    attempt.held_bytes = kMiB / 2;
    CHECK(detect("XL620", attempt).empty());
  }

  TEST_CASE("waiting workers of a search are a note, as long as they leave room") {
    const Holder workers{
        "search workers",      "the workers of joblib, from cell 2 on", 0, 2, "worker process", 4,
        "executor.shutdown();"};
    const auto findings = detect("XL520", workers);
    REQUIRE(findings.size() == 1);
    CHECK_FALSE(findings[0].severity);
    CHECK_FALSE(findings[0].bytes);
    CHECK(findings[0].message.find("4 worker processes wait") == 0);

    SessionView full;
    full.ram_bytes = 800 * kMiB;
    full.holders = {workers};
    full.holders[0].held_bytes = 400 * kMiB;
    REQUIRE(detect("XL520", full).size() == 1);
    CHECK(detect("XL520", full)[0].severity == Severity::warning);
  }

  TEST_CASE("two installations of CUDA are told by where they are named") {
    const Holder paths{"CUDA paths", "CUDA_HOME 12, PATH 11", 0, 2, "11 and 12", 2, ""};
    const auto findings = detect("XL519", paths);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].fixes.empty());
    CHECK(findings[0].message.find("CUDA 11 and 12: CUDA_HOME 12, PATH 11.") != std::string::npos);
  }

  TEST_CASE("unread pictures are counted, decoded ones have bytes") {
    const Holder unread{"unread pictures", "opened", 0, 2, "0.png", 60, "opened.clear()"};
    const auto counted = detect("XL508", unread);
    REQUIRE(counted.size() == 1);
    CHECK_FALSE(counted[0].bytes);
    const Holder decoded{"pictures", "stack", 300 * kMiB, 2, "pictures", 18, "stack.clear()"};
    const auto measured = detect("XL508", decoded);
    REQUIRE(measured.size() == 1);
    CHECK(measured[0].bytes == 300 * kMiB);
    CHECK(measured[0].fixes[0].code == "stack.clear()");
  }

  TEST_CASE("outputs of an evaluation are a warning on a device and a note on the host") {
    const Holder on_device{"outputs on a device", "logits", 300 * kMiB, 2, "cuda", 9, ""};
    const Holder on_host{"outputs", "logits", 300 * kMiB, 2, "cpu", 9, "del logits"};
    REQUIRE(detect("XL323", on_device).size() == 1);
    CHECK_FALSE(detect("XL323", on_device)[0].severity);
    REQUIRE(detect("XL323", on_host).size() == 1);
    CHECK(detect("XL323", on_host)[0].severity == Severity::note);
  }

  TEST_CASE("files and workers of other kinds are other smells'") {
    const Holder loader{"workers", "batches", 0, 2, "worker process", 4, ""};
    for (const char* code : {"XL323", "XL505", "XL508", "XL519", "XL520", "XL620"})
      CHECK(detect(code, loader).empty());
  }
}
