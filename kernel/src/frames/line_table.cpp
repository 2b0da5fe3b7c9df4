#include "line_table.hpp"

namespace xleak::frames {
namespace {

/// The bytes of a table that are still to be read; zero after the last.
class TableBytes {
 public:
  explicit TableBytes(PyObject* table)
      : next_(reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(table))),
        end_(next_ + PyBytes_GET_SIZE(table)) {}

  bool is_at_end() const { return next_ >= end_; }
  unsigned peek() const { return is_at_end() ? 0 : *next_; }
  unsigned take() { return is_at_end() ? 0 : *next_++; }

 private:
  const unsigned char* next_;
  const unsigned char* end_;
};

#if PY_VERSION_HEX >= 0x030B0000

// Objects/locations.md of CPython has the format: an entry begins with the one byte of it whose
// highest bit is set.
constexpr unsigned kBegins = 0x80;

/// Six bits a byte, the lowest first.
unsigned take_number(TableBytes& bytes) {
  constexpr unsigned kMore = 0x40;
  constexpr unsigned kBits = 6;
  unsigned number = 0;
  for (unsigned shift = 0; shift < 32; shift += kBits) {
    const unsigned byte = bytes.take();
    number |= (byte & (kMore - 1)) << shift;
    if ((byte & kMore) == 0) break;
  }
  return number;
}

/// By how much the line of an entry lies behind that of the one before.
int take_step(TableBytes& bytes, unsigned form) {
  constexpr unsigned kOneLine = 10;
  constexpr unsigned kNoColumns = 13;
  constexpr unsigned kLong = 14;
  if (form == kNoColumns || form == kLong) {
    const unsigned number = take_number(bytes);
    const int size = static_cast<int>(number >> 1u);
    return (number & 1u) != 0 ? -size : size;
  }
  return form >= kOneLine && form < kNoColumns ? static_cast<int>(form - kOneLine) : 0;
}

int line_in(TableBytes bytes, int line, std::ptrdiff_t offset) {
  constexpr unsigned kFormBit = 3;
  constexpr unsigned kFormMask = 15;
  constexpr unsigned kLengthMask = 7;
  constexpr std::ptrdiff_t kUnitBytes = 2;
  std::ptrdiff_t end = 0;
  while (!bytes.is_at_end()) {
    const unsigned head = bytes.take();
    line += take_step(bytes, (head >> kFormBit) & kFormMask);
    end += ((head & kLengthMask) + 1) * kUnitBytes;
    if (offset < end) break;
    while (!bytes.is_at_end() && (bytes.peek() & kBegins) == 0) bytes.take();
  }
  return line;
}

#else

// PEP 626 has the format: how many bytes of code, and by how much the line changes before them.
int line_in(TableBytes bytes, int line, std::ptrdiff_t offset) {
  constexpr int kNoLine = -128;
  std::ptrdiff_t end = 0;
  while (!bytes.is_at_end()) {
    end += bytes.take();
    const int step = static_cast<signed char>(bytes.take());
    if (step != kNoLine) line += step;
    if (offset < end) break;
  }
  return line;
}

#endif

}  // namespace

int line_at(const PyCodeObject* code, std::ptrdiff_t offset) noexcept {
  PyObject* table = code->co_linetable;
  if (offset < 0 || table == nullptr || !PyBytes_Check(table)) return code->co_firstlineno;
  return line_in(TableBytes(table), code->co_firstlineno, offset);
}

}  // namespace xleak::frames
