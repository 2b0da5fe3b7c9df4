#pragma once
#include <string_view>
#include <vector>

#include "xleak/monitor/lint.hpp"

namespace xleak::monitor::source {

struct Program;

/// The remarks of a program that keep findings quiet, and which of them were needed.
/// `# xleak: ignore[XL203, XL102]` on a line, `# xleak: ignore` for every rule, and the same text
/// as the tag of a cell.
class Ignores {
 public:
  explicit Ignores(const Program& program);
  bool covers(const Verdict& verdict);
  std::vector<UnusedIgnore> unused() const;

 private:
  struct Ignore {
    int cell;
    int line;  ///< 0: the whole cell.
    std::string_view text;
    std::vector<std::string_view> codes;  ///< None: every code.
    bool used = false;
  };

  void add(int cell, int line, std::string_view text);

  std::vector<Ignore> ignores_;
};

}  // namespace xleak::monitor::source
