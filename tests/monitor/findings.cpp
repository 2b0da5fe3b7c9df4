#include <doctest/doctest.h>

#include <stdexcept>

#include "finding_book.hpp"
#include "scripted_probes.hpp"

using namespace xleak::monitor;

namespace {

Finding finding_of(const OutputEntry& entry, const SessionView& view) {
  Finding finding;
  finding.cell = view.cell;
  finding.bytes = entry.held_bytes;
  finding.holders = entry.holders;
  finding.key = "Out[" + std::to_string(entry.number) + "]";
  return finding;
}

std::vector<Finding> each_output(const SessionView& view) {
  std::vector<Finding> findings;
  for (const auto& entry : view.outputs) findings.push_back(finding_of(entry, view));
  return findings;
}

std::vector<Finding> broken_at_cell_2(const SessionView& view) {
  if (view.cell == 2) throw std::runtime_error("broken");
  return each_output(view);
}

const Smell kEach{"XL901", "each_output", Severity::note, each_output};
const Smell kBroken{"XL902", "broken", Severity::note, broken_at_cell_2};
const Smell kSourceOnly{"XL903", "source_only", Severity::note, nullptr};

SessionView view_of(int cell, std::vector<OutputEntry> outputs) {
  SessionView view;
  view.cell = cell;
  view.outputs = std::move(outputs);
  return view;
}

OutputEntry entry(int number, std::int64_t bytes, std::vector<std::string> holders = {}) {
  return {number, std::nullopt, bytes, false, "T", std::move(holders)};
}

}  // namespace

TEST_SUITE("findings") {
  TEST_CASE("a rule that is off finds nothing, and what it found is resolved") {
    FindingBook book;
    book.judge({&kEach}, view_of(1, {entry(1, 10)}));
    book.set_off({kEach.code});
    CHECK(book.judge({&kEach}, view_of(2, {entry(1, 10)})).resolved.size() == 1);
    CHECK(book.findings().empty());
    book.set_off({});
    CHECK(book.judge({&kEach}, view_of(3, {entry(1, 10)})).added.size() == 1);
  }

  TEST_CASE("a finding is added once") {
    FindingBook book;
    CHECK(book.judge({&kEach}, view_of(1, {entry(1, 10)})).added.size() == 1);
    const auto again = book.judge({&kEach}, view_of(2, {entry(1, 10)}));
    CHECK(again.added.empty());
    CHECK(again.changed.empty());
    CHECK(again.resolved.empty());
    REQUIRE(book.findings().size() == 1);
    CHECK(book.findings()[0].finding.cell == 1);
  }

  TEST_CASE("bytes or holders that move make it changed, and the cell stays") {
    FindingBook book;
    book.judge({&kEach}, view_of(1, {entry(1, 10, {"a"})}));
    const auto more = book.judge({&kEach}, view_of(2, {entry(1, 20, {"a"})}));
    REQUIRE(more.changed.size() == 1);
    CHECK(more.changed[0].finding.bytes == 20);
    CHECK(more.changed[0].finding.cell == 1);
    CHECK(book.judge({&kEach}, view_of(3, {entry(1, 20, {"b"})})).changed.size() == 1);
    CHECK(book.findings()[0].finding.holders == std::vector<std::string>{"b"});
  }

  TEST_CASE("what is no longer so is resolved") {
    FindingBook book;
    book.judge({&kEach}, view_of(1, {entry(1, 10), entry(2, 20)}));
    const auto judgement = book.judge({&kEach}, view_of(2, {entry(2, 20)}));
    REQUIRE(judgement.resolved.size() == 1);
    CHECK(judgement.resolved[0].finding.key == "Out[1]");
    REQUIRE(book.findings().size() == 1);
    CHECK(book.findings()[0].finding.key == "Out[2]");
  }

  TEST_CASE("most bytes come first and unknown ones last") {
    FindingBook book;
    book.judge({&kEach}, view_of(1, {entry(1, 10), entry(2, 30), entry(3, 20)}));
    const auto findings = book.findings();
    REQUIRE(findings.size() == 3);
    CHECK(findings[0].finding.bytes == 30);
    CHECK(findings[1].finding.bytes == 20);
    CHECK(findings[2].finding.bytes == 10);
  }

  TEST_CASE("a smell that throws keeps its findings and breaks no other") {
    FindingBook book;
    book.judge({&kBroken, &kEach}, view_of(1, {entry(1, 10)}));
    const auto judgement = book.judge({&kBroken, &kEach}, view_of(2, {}));
    REQUIRE(judgement.resolved.size() == 1);
    CHECK(judgement.resolved[0].smell == &kEach);
    REQUIRE(book.findings().size() == 1);
    CHECK(book.findings()[0].smell == &kBroken);
  }

  TEST_CASE("the same key of two smells is two findings") {
    FindingBook book;
    book.judge({&kBroken, &kEach}, view_of(1, {entry(1, 10)}));
    CHECK(book.findings().size() == 2);
  }

  TEST_CASE("a smell without a run-time half is passed over") {
    FindingBook book;
    CHECK(book.judge({&kSourceOnly}, view_of(1, {entry(1, 10)})).added.empty());
  }

  TEST_CASE("a session judges with every smell that is built in") {
    ScriptedSession s;
    const auto judgement = s.session.judge(view_of(1, {entry(1, 64 << 20)}));
    REQUIRE(judgement.added.size() == 1);
    CHECK(std::string(judgement.added[0].smell->code) == "XL401");
    CHECK(s.session.findings().size() == 1);
  }
}
