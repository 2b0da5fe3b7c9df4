#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "xleak/monitor/session.hpp"

namespace xleak::monitor {

/// What is known to leak, carried from one look at the facts to the next. Not locked.
class FindingBook {
 public:
  /// Runs the smells. The findings of one that throws stay as they were.
  Judgement judge(const std::vector<const Smell*>& smells, const SessionView& view);

  /// The smells with these codes find nothing from the next look on.
  void set_off(std::set<std::string> codes) { off_ = std::move(codes); }

  /// Most bytes first, unknown ones last.
  std::vector<Verdict> findings() const;

 private:
  void merge(const Smell& smell, std::vector<Finding> found, Judgement& judgement);

  std::vector<Verdict> known_;
  std::set<std::string> off_;
};

}  // namespace xleak::monitor
