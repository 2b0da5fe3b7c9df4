#include "finding_book.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace xleak::monitor {
namespace {

bool is_of(const Verdict& verdict, const Smell& smell) {
  return std::string_view(verdict.smell->code) == smell.code;
}

bool holds_key(const std::vector<Finding>& findings, const std::string& key) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.key == key; });
}

bool moved(const Finding& then, const Finding& now) {
  return then.bytes != now.bytes || then.holders != now.holders;
}

// Bytes in the order of std::optional: an unknown size is less than every known one.
bool more_bytes(const Verdict& left, const Verdict& right) {
  return left.finding.bytes > right.finding.bytes;
}

}  // namespace

Judgement FindingBook::judge(const std::vector<const Smell*>& smells, const SessionView& view) {
  Judgement judgement;
  for (const Smell* smell : smells) {
    if (smell->at_run_time == nullptr) continue;
    try {
      const bool off = off_.count(smell->code) != 0;
      merge(*smell, off ? std::vector<Finding>() : smell->at_run_time(view), judgement);
    } catch (...) {
      continue;  // One broken smell must not silence the others.
    }
  }
  return judgement;
}

void FindingBook::merge(const Smell& smell, std::vector<Finding> found, Judgement& judgement) {
  const auto gone = std::stable_partition(known_.begin(), known_.end(), [&](const Verdict& known) {
    return !is_of(known, smell) || holds_key(found, known.finding.key);
  });
  judgement.resolved.insert(judgement.resolved.end(), gone, known_.end());
  known_.erase(gone, known_.end());
  for (Finding& finding : found) {
    const auto at = std::find_if(known_.begin(), known_.end(), [&](const Verdict& known) {
      return is_of(known, smell) && known.finding.key == finding.key;
    });
    const Severity severity = finding.severity.value_or(smell.severity);
    if (at == known_.end()) {
      known_.push_back({&smell, std::move(finding), severity});
      judgement.added.push_back(known_.back());
      continue;
    }
    const bool changed = moved(at->finding, finding);
    finding.cell = at->finding.cell;  // It is there since that cell.
    *at = {&smell, std::move(finding), severity};
    if (changed) judgement.changed.push_back(*at);
  }
}

std::vector<Verdict> FindingBook::findings() const {
  auto sorted = known_;
  std::stable_sort(sorted.begin(), sorted.end(), more_bytes);
  return sorted;
}

}  // namespace xleak::monitor
