#include "text.hpp"

namespace xleak::frames {
namespace {

Py_UCS4 encodable(Py_UCS4 character) {
  constexpr Py_UCS4 kFirstSurrogate = 0xD800;
  constexpr Py_UCS4 kLastSurrogate = 0xDFFF;
  constexpr Py_UCS4 kLast = 0x10FFFF;
  const bool is_none = (character >= kFirstSurrogate && character <= kLastSurrogate) ||
                       character > kLast || character == 0;
  return is_none ? Py_UCS4{'?'} : character;
}

std::size_t size_of(Py_UCS4 character) {
  if (character < 0x80) return 1;
  if (character < 0x800) return 2;
  return character < 0x10000 ? 3 : 4;
}

char* encode(Py_UCS4 character, char* out) {
  constexpr unsigned kBits = 6;
  constexpr Py_UCS4 kMask = 0x3F;
  constexpr std::array<Py_UCS4, 5> kHead{0, 0, 0xC0, 0xE0, 0xF0};
  const std::size_t size = size_of(character);
  unsigned shift = static_cast<unsigned>(size - 1) * kBits;
  *out++ = static_cast<char>(kHead.at(size) | (character >> shift));
  while (shift != 0) {
    shift -= kBits;
    *out++ = static_cast<char>(0x80 | ((character >> shift) & kMask));
  }
  return out;
}

}  // namespace

Utf8::Utf8(const RawText& text) noexcept {
  if (text.is_ascii) {
    text_ = static_cast<const char*>(text.data);
    return;
  }
  std::size_t from = text.length;
  std::size_t bytes = 0;
  while (from != 0) {
    const std::size_t size = size_of(encodable(text[from - 1]));
    if (bytes + size >= kBytes) break;
    bytes += size;
    --from;
  }
  text_ = copy_.data();
  char* out = copy_.data();
  for (; from != text.length; ++from) out = encode(encodable(text[from]), out);
  *out = 0;
}

}  // namespace xleak::frames
