#include <doctest/doctest.h>

#include "detect.hpp"
#include "xleak/monitor/session.hpp"

using namespace xleak::monitor;

namespace {

Holder futures(std::int64_t bytes) {
  return {"futures", "jobs", bytes, 3, "Future", 7, "jobs.clear()"};
}

Holder handlers(std::string release) {
  return {"handlers",        "logging.getLogger('audit').handlers", 0, 2, "StreamHandler", 3,
          std::move(release)};
}

Holder running(const char* kind, const char* label, const char* release) {
  return {kind, label, 0, 5, "", 2, release};
}

Holder workers(std::int64_t bytes, int count) {
  return {"workers", "batches", bytes, 4, "worker process", count, "del batches"};
}

bool says(const Finding& finding, const char* text) {
  return finding.message.find(text) != std::string::npos;
}

}  // namespace

TEST_SUITE("process_smells") {
  TEST_CASE("results of several futures are a warning, of a single one from 16 MiB on") {
    CHECK(detect("XL413", futures(kMiB - 1)).empty());
    Holder one = futures(16 * kMiB - 1);
    one.kind = "future";
    const auto small = detect("XL413", one);
    REQUIRE(small.size() == 1);
    CHECK_FALSE(small[0].severity);
    one.held_bytes = 16 * kMiB;
    CHECK(detect("XL413", one).at(0).severity == Severity::warning);
    const auto many = detect("XL413", futures(64 * kMiB));
    REQUIRE(many.size() == 1);
    CHECK(many[0].severity == Severity::warning);
    CHECK(many[0].cause_cell == 3);
    CHECK(many[0].message ==
          "jobs keeps 64 MiB of results alive that were read and that nothing else has (7 × "
          "Future). Free them with `jobs.clear()`.");
  }

  TEST_CASE("what is counted has no bytes, never zero") {
    const auto added = detect("XL406", handlers("remove them"));
    REQUIRE(added.size() == 1);
    CHECK_FALSE(added[0].bytes);
    CHECK(added[0].cause_cell == 2);
    CHECK(says(added[0], "3 (StreamHandler) are there"));
    CHECK(added[0].fixes[0].code == "remove them");
  }

  TEST_CASE("where no code is exact there is no fix") {
    CHECK(detect("XL406", handlers("")).at(0).fixes.empty());
    CHECK(detect("XL408", {"exit hooks", "atexit: Rig.flush", kMiB, {}, "Rig.flush", 1, ""})
              .at(0)
              .fixes.empty());
  }

  TEST_CASE("threads and processes are told with what stops them") {
    const auto thread = detect("XL415", running("threads", "thread stream", ""));
    REQUIRE(thread.size() == 1);
    CHECK(says(thread[0], "one more thread stream: 2 are running"));
    CHECK(says(thread[0], "`stop.set(); thread.join()`"));
    const auto process = detect("XL415", running("processes", "subprocess cat", "stop it"));
    REQUIRE(process.size() == 1);
    CHECK(says(process[0], "`process.terminate(); process.wait()`"));
    CHECK(process[0].fixes[0].code == "stop it");
  }

  TEST_CASE("workers are told with their size where it is known") {
    CHECK(says(detect("XL321", workers(83 * kMiB, 2)).at(0), "2 worker processes, 83 MiB in all,"));
    CHECK(says(detect("XL321", workers(0, 1)).at(0), "1 worker process live"));
    CHECK_FALSE(detect("XL321", workers(83 * kMiB, 2)).at(0).bytes);
  }

  TEST_CASE("finalizers, callbacks at exit and debuggers are reported from 1 MiB on") {
    const Holder finalizers{"finalizers", "weakref.finalize of save", kMiB, {}, "Table", 1, "fix"};
    CHECK(says(detect("XL408", finalizers).at(0), "keeps 1 Table object and 1 MiB alive"));
    Holder hooks{"exit hooks", "atexit: Rig.flush", kMiB, {}, "Rig.flush", 2, ""};
    CHECK(says(detect("XL408", hooks).at(0), "2 callbacks at exit to Rig.flush keep 1 MiB"));
    Holder debugger{"debugger", "stepper", kMiB, {}, "Pdb", 1, "stepper.reset()"};
    CHECK(says(detect("XL412", debugger).at(0), "The debugger stepper keeps 1 MiB"));
    hooks.held_bytes = debugger.held_bytes = kMiB - 1;
    CHECK(detect("XL408", hooks).empty());
    CHECK(detect("XL412", debugger).empty());
  }

  TEST_CASE("anomaly detection is told with how often weights changed") {
    const Holder mode{"anomaly mode", "torch.is_anomaly_enabled()", 0, 3, "weights", 40, "off"};
    const auto findings = detect("XL211", mode);
    REQUIRE(findings.size() == 1);
    CHECK(says(findings[0], "weights changed 40 times"));
    CHECK(findings[0].cause_cell == 3);
  }
}
