#pragma once
#include <string>
#include <vector>

#include "xleak/monitor/source.hpp"

/// A program of these cells.
struct Cells : xleak::monitor::SourceView {
  explicit Cells(const std::vector<std::string>& texts) : SourceView(numbered(texts)) {}

  /// The only call to this dotted name.
  xleak::monitor::Call call(std::string_view dotted) const {
    const auto found = calls_to({dotted});
    return found.size() == 1 ? found.front() : xleak::monitor::Call();
  }

 private:
  static std::vector<xleak::monitor::SourceCell> numbered(const std::vector<std::string>& texts) {
    std::vector<xleak::monitor::SourceCell> cells;
    for (const std::string& text : texts)
      cells.push_back({text, static_cast<int>(cells.size()) + 1});
    return cells;
  }
};
