// Whatever a file of a notebook's name holds, it is linted or gets its one sentence.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "source/python_json.hpp"
#include "xleak/monitor/lint.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto notebook = xleak::monitor::lint_text("fuzz.ipynb", text);
  if (notebook.problem && notebook.problem->find('\n') != std::string::npos) __builtin_trap();
  xleak::monitor::lint_text("fuzz.py", text);
  const auto strict = xleak::monitor::source::in_strict_json(text);
  if (xleak::monitor::source::in_strict_json(strict) != strict) __builtin_trap();
  return 0;
}
