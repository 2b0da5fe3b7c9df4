#pragma once
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
};

/// A finding for each holder of the rule's kind that keeps 1 MiB or more.
std::vector<Finding> holder_findings(const SessionView& session, const HolderRule& rule);

}  // namespace xleak::monitor
