#pragma once
#include <vector>

#include "xleak/monitor/session.hpp"

namespace xleak::monitor {

/// What is known to leak, carried from one look at the facts to the next. Not locked.
class FindingBook {
 public:
  /// Runs the smells. The findings of one that throws stay as they were.
  Judgement judge(const std::vector<const Smell*>& smells, const SessionView& view);

  /// Most bytes first, unknown ones last.
  std::vector<Verdict> findings() const;

 private:
  void merge(const Smell& smell, std::vector<Finding> found, Judgement& judgement);

  std::vector<Verdict> known_;
};

}  // namespace xleak::monitor
