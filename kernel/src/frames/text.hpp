#pragma once
#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace xleak::frames {

/// A text of Python's as it lies in memory, whatever its representation. Nothing here takes a
/// reference or allocates.
struct RawText {
  const void* data = nullptr;
  std::size_t length = 0;      ///< In characters.
  std::size_t char_bytes = 0;  ///< 1, 2 or 4.
  bool is_ascii = false;       ///< Then it ends in a zero and is UTF-8.

  std::size_t bytes() const { return length * char_bytes; }
  Py_UCS4 operator[](std::size_t at) const {
    if (char_bytes == 1) return static_cast<const Py_UCS1*>(data)[at];
    if (char_bytes == 2) return static_cast<const Py_UCS2*>(data)[at];
    return static_cast<const Py_UCS4*>(data)[at];
  }
};

/// Empty for what is no text.
inline RawText raw_text(PyObject* object) {
  if (object == nullptr || !PyUnicode_Check(object)) return {};
#if PY_VERSION_HEX < 0x030C0000
  // Made by an old interface, and never asked for its characters since.
  if (!PyUnicode_IS_READY(object)) {
    const auto* text = reinterpret_cast<PyASCIIObject*>(object);
    const auto length = reinterpret_cast<PyCompactUnicodeObject*>(object)->wstr_length;
    return {text->wstr, static_cast<std::size_t>(length), sizeof(wchar_t), false};
  }
#endif
  return {PyUnicode_DATA(object), static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)),
          static_cast<std::size_t>(PyUnicode_KIND(object)), PyUnicode_IS_ASCII(object) != 0};
}

/// Both numbers in one: the halves of their product, of which every bit depends on all of theirs.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  constexpr unsigned kHalf = 64;
  constexpr std::uint64_t kFirst = 0xA0761D6478BD642F;
  constexpr std::uint64_t kSecond = 0xE7037ED1A0B428DB;
  const Product product = static_cast<Product>(a ^ kFirst) * (b ^ kSecond);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> kHalf);
}

/// A number by which memory that was freed and is used for something else is noticed, to be mixed:
/// of the size, and of 8 bytes each at the start, in the middle and twice at the end. File names
/// and tables of lines differ there, or at their addresses, which their owner mixes in.
inline std::uint64_t sample_of(const void* data, std::size_t bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const auto* at = static_cast<const unsigned char*>(data);
  // Multiplied, the highest bytes of a word reach no lower ones: they are brought down first.
  const auto word = [at](std::size_t from, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, at + from, size);
    return value ^ (value >> 32u);
  };
  if (bytes < kWord) return word(0, bytes) * kOdd + bytes;
  const std::size_t before_last = bytes < 2 * kWord ? 0 : bytes - 2 * kWord;
  // The products do not wait for each other, unlike steps of a hash.
  return bytes + word(0, kWord) * kOdd + word((bytes - kWord) / 2, kWord) * 0xD1B54A32D192ED03 +
         word(before_last, kWord) * 0xABC98388FB8FAC03 +
         word(bytes - kWord, kWord) * 0x8CB92BA72F3D8DD7;
}

/// A text in UTF-8, which its owner must not outlive: of one in ASCII it is the text itself, of
/// another a copy of as much of its end as fits. `?` stands for what is no character.
class Utf8 {
 public:
  explicit Utf8(const RawText& text) noexcept;
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;

  const char* c_str() const { return text_; }

 private:
  // Above what the table of sites keeps of a file.
  static constexpr std::size_t kBytes = 512;

  std::array<char, kBytes> copy_;
  const char* text_ = nullptr;
};

}  // namespace xleak::frames
