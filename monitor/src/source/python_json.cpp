#include "source/python_json.hpp"

#include <algorithm>
#include <cstddef>

namespace xleak::monitor::source {
namespace {

// A number of so many signs without an exponent fits a double.
constexpr std::size_t kShortNumber = 15;
constexpr std::size_t kEscapeSize = 6;  ///< Of \uXXXX.
constexpr std::string_view kReplacement = "\\ufffd";
constexpr std::string_view kDigits = "0123456789";

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Of what is neither a string nor a sign of its own: numbers, words.
bool is_in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
         c == '-' || c == '.';
}

enum class Half { none, high, low };

// What the escape at the start of the text is half of; none too where it is no such escape.
Half half_at(std::string_view text) {
  if (text.size() < kEscapeSize || text[0] != '\\' || text[1] != 'u') return Half::none;
  if (text[2] != 'd' && text[2] != 'D') return Half::none;
  if (!is_hexadecimal(text[3]) || !is_hexadecimal(text[4]) || !is_hexadecimal(text[5])) {
    return Half::none;
  }
  if (text[3] >= '0' && text[3] <= '7') return Half::none;
  return text[3] == '8' || text[3] == '9' || text[3] == 'a' || text[3] == 'A' || text[3] == 'b' ||
                 text[3] == 'B'
             ? Half::high
             : Half::low;
}

std::size_t skip_digits(std::string_view word, std::size_t at) {
  return std::min(word.find_first_not_of(kDigits, at), word.size());
}

// At least one digit; the end of the word otherwise, and then it is no number.
bool take_digits(std::string_view word, std::size_t& at) {
  const std::size_t end = skip_digits(word, at);
  const bool is_some = end > at;
  at = end;
  return is_some;
}

// By the grammar of JSON.
bool is_number(std::string_view word) {
  std::size_t at = word.substr(0, 1) == "-" ? 1 : 0;
  const bool is_padded = word.substr(at, 1) == "0" && skip_digits(word, at) > at + 1;
  if (is_padded || !take_digits(word, at)) return false;
  if (word.substr(at, 1) == "." && !take_digits(word, ++at)) return false;
  if (word.substr(at, 1) == "e" || word.substr(at, 1) == "E") {
    ++at;
    if (word.substr(at, 1) == "+" || word.substr(at, 1) == "-") ++at;
    if (!take_digits(word, at)) return false;
  }
  return at == word.size();
}

bool fits_double(std::string_view number) {
  return number.size() <= kShortNumber && number.find_first_of("eE") == std::string_view::npos;
}

std::string_view strict_word(std::string_view word) {
  if (word == "NaN" || word == "Infinity" || word == "-Infinity") return "null";
  return is_number(word) && !fits_double(word) ? std::string_view("0") : word;
}

// Appends the string that begins at the quote `at`; returns where it ends.
std::size_t append_string(std::string_view text, std::size_t at, std::string& strict) {
  const std::size_t start = at++;
  std::size_t copied = start;
  while (at < text.size() && text[at] != '"') {
    const Half half = half_at(text.substr(at));
    if (half == Half::high && half_at(text.substr(at + kEscapeSize)) == Half::low) {
      at += 2 * kEscapeSize;
    } else if (half != Half::none) {
      strict.append(text.substr(copied, at - copied)).append(kReplacement);
      copied = at += kEscapeSize;
    } else {
      at += text[at] == '\\' ? 2 : 1;
    }
  }
  at = std::min(at + 1, text.size());
  strict.append(text.substr(copied, at - copied));
  return at;
}

std::size_t append_word(std::string_view text, std::size_t at, std::string& strict) {
  std::size_t end = at;
  while (end < text.size() && is_in_word(text[end])) ++end;
  strict.append(strict_word(text.substr(at, end - at)));
  return end;
}

}  // namespace

std::string in_strict_json(std::string_view text) {
  std::string strict;
  strict.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = append_string(text, at, strict);
    } else if (is_in_word(text[at])) {
      at = append_word(text, at, strict);
    } else {
      strict.push_back(text[at++]);
    }
  }
  return strict;
}

}  // namespace xleak::monitor::source
