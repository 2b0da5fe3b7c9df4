// Whatever a cell holds, the source engine reads it: every rule, and every question on every node.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "xleak/monitor/lint.hpp"

namespace {

// Cells stand one after the other, split where the fuzzer puts a zero.
std::vector<xleak::monitor::SourceCell> cells_of(const std::string& text) {
  std::vector<xleak::monitor::SourceCell> cells;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('\0', start), text.size());
    cells.push_back({text.substr(start, end - start), static_cast<int>(cells.size()) + 1});
    start = end + 1;
  }
  return cells;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto& verdict : xleak::monitor::lint(cells_of(text)).findings) {
    for (const auto& fix : verdict.finding.fixes) {
      for (const auto& edit : fix.edits) {
        if (edit.start > edit.stop || edit.stop > size) __builtin_trap();
      }
    }
  }
  const xleak::monitor::SourceView code(cells_of(text));
  for (const auto& call : code.calls()) {
    call.value();
    call.in_loop();
    call.under_no_grad();
  }
  for (const auto& store : code.stores()) code.is_bounded(store);
  return 0;
}
