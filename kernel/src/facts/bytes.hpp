#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace xleak::facts {

/// Less never becomes a finding.
constexpr std::int64_t kSmallBytes = 64 << 10;

/// What Python itself allocates.
struct PythonBytes {
  std::int64_t malloc_bytes = 0;
  std::int64_t pymalloc_bytes = 0;

  /// CPython serves requests up to 512 bytes from its own pools, in steps of 16; a larger one is a
  /// chunk of malloc's, whose head of 8 bytes is among the steps.
  void add_block(std::int64_t size) {
    if (size <= 0) return;
    if (size <= 512) {
      pymalloc_bytes += (size + 15) & ~15;
    } else {
      malloc_bytes += (size + 8 + 15) & ~15;
    }
  }

  void add(const PythonBytes& other) {
    malloc_bytes += other.malloc_bytes;
    pymalloc_bytes += other.pymalloc_bytes;
  }

  std::int64_t total() const { return malloc_bytes + pymalloc_bytes; }
};

/// Bytes by the allocator that owns them: "malloc", "pymalloc", "arrow", "tensorflow", "cuda:0",
/// "unknown".
using Bytes = std::map<std::string, std::int64_t>;

inline void add(Bytes& bytes, const std::string& owner, std::int64_t size) {
  if (size != 0) bytes[owner] += size;
}

inline void add(Bytes& bytes, const PythonBytes& python) {
  add(bytes, "malloc", python.malloc_bytes);
  add(bytes, "pymalloc", python.pymalloc_bytes);
}

inline std::int64_t total(const Bytes& bytes) {
  std::int64_t sum = 0;
  for (const auto& [owner, size] : bytes) sum += size;
  return sum;
}

}  // namespace xleak::facts
