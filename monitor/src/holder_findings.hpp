#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "xleak/monitor/smell.hpp"

namespace xleak::monitor {

/// What smells about one kind of holder have in common.
struct HolderRule {
  const char* kind;
  const char* fix_title;
  /// One sentence or two: who keeps how much, and what to type or to write instead.
  std::string (*message)(const Holder&);
  int more_objects_than = 0;
  /// Below this the report costs the reader more than the memory costs the machine. 0 where the
  /// number of objects is what is measured: the bytes are then unknown.
  std::int64_t least_bytes = 1 << 20;
  /// From here on it is a warning, whatever the smell says.
  std::optional<std::int64_t> warning_bytes = std::nullopt;
  std::optional<Severity> severity = std::nullopt;  ///< Where it differs from the smell's own.

  HolderRule as(Severity other) const {
    HolderRule rule = *this;
    rule.severity = other;
    return rule;
  }
};

/// Of lines that take at least so many hundredths of a cell's time; no memory is kept.
HolderRule timed_lines(const char* kind, std::string (*message)(const Holder&), int least_percent);

/// A finding for each holder of the rule's kind that keeps enough.
std::vector<Finding> holder_findings(const SessionView& session, const HolderRule& rule);

/// Those of all rules, in the order of the rules.
std::vector<Finding> holder_findings(const SessionView& session,
                                     std::initializer_list<HolderRule> rules);

}  // namespace xleak::monitor
