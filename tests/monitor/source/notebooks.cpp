#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/files.hpp"
#include "source/python_json.hpp"
#include "xleak/monitor/error.hpp"

using namespace xleak::monitor;
using namespace std::string_literals;

namespace {

// A notebook of one cell with this source, and something else beside its cells.
std::string notebook(const std::string& source, const std::string& beside) {
  return R"({"cells": [{"cell_type": "code", "source": [")" + source + R"("], "outputs": []}], )" +
         beside + "}";
}

std::string only_cell(const std::string& text) {
  const auto cells = source::cells_of_notebook(text);
  REQUIRE(cells.size() == 1);
  return cells.front().text;
}

std::string refusal(const std::string& text) {
  try {
    source::cells_of_notebook(text);
  } catch (const Error& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace

TEST_SUITE("notebooks as Python's json module reads them") {
  TEST_CASE("numbers that only Python's dialect has, and those beyond a double") {
    for (const char* value :
         {"NaN", "Infinity", "-Infinity", "1e999", "-1E+999", "1e-999", "[NaN,1e999]"}) {
      CAPTURE(value);
      CHECK(only_cell(notebook("x = 1", "\"metadata\": {\"a\": "s + value + "}")) == "x = 1");
    }
    const std::string digits(5000, '9');
    CHECK(only_cell(notebook("x = 1", "\"metadata\": {\"a\": " + digits + ".5}")) == "x = 1");
  }

  TEST_CASE("half of a surrogate pair has as many bytes as the sign that stands for it") {
    CHECK(only_cell(notebook(R"(a\ud83db)", R"("a": 1)")) ==
          "a\xef\xbf\xbd"
          "b");
    CHECK(only_cell(notebook(R"(a\uDE00)", R"("a": 1)")) == "a\xef\xbf\xbd");
    CHECK(only_cell(notebook(R"(\ud83d\ud83d\ude00)", R"("a": NaN)")) ==
          "\xef\xbf\xbd\xf0\x9f\x98\x80");
    CHECK(only_cell(notebook(R"(\\ud83d)", R"("a": NaN)")) == R"(\ud83d)");
    CHECK(only_cell(notebook("x = 1", R"("a\udc00": "\ud83d")")) == "x = 1");
  }

  TEST_CASE("words and signs within a string stay as they are") {
    CHECK(only_cell(notebook(R"(NaN \"Infinity\" 1e999)", R"("a": NaN)")) ==
          "NaN \"Infinity\" 1e999");
  }

  TEST_CASE("what Python refuses is refused") {
    for (const char* value : {"nan", "+1", "01", "1.", ".5", "1e", "NaNx", "-NaN", "1NaN", "0x10",
                              "--1", "1-2", "\"\\ud8\"", "\"\\u12\"", "\"", "'a'", "1 1"}) {
      CAPTURE(value);
      CHECK(refusal(notebook("x = 1", "\"a\": "s + value)) == "it is not valid JSON");
    }
    CHECK(refusal(notebook("x = 1", "\"a\": 1") + "\0more"s) == "it is not valid JSON");
    CHECK(refusal("") == "it is not valid JSON");
  }

  TEST_CASE("strict JSON is left as it is") {
    const auto strict = R"({"a": [1, -2.5e3, true, null, "\ud83d\ude00 NaN"], "b": "é"})"s;
    CHECK(source::in_strict_json(strict) ==
          R"({"a": [1, 0, true, null, "\ud83d\ude00 NaN"], "b": "é"})");
    CHECK(source::in_strict_json("12345 \"\\") == "12345 \"\\");
  }
}

TEST_SUITE("formats of notebooks") {
  TEST_CASE("another format than 2 to 4 is refused: its cells may be elsewhere") {
    CHECK(refusal(notebook("x = 1", R"("nbformat": 4)")).empty());
    CHECK(refusal(notebook("x = 1", R"("nbformat_minor": 99)")).empty());
    CHECK(refusal(notebook("x = 1", R"("nbformat": 99)")) ==
          "its format is 99, and xleak reads notebooks of format 2 to 4");
    for (const char* format : {"1", "0", "-4", "5", "NaN", "\"4\"", "null", "[]", "1e999"}) {
      CAPTURE(format);
      CHECK_FALSE(refusal(notebook("x = 1", "\"nbformat\": "s + format)).empty());
    }
  }
}

TEST_CASE("text in UTF-8 has neither halves of pairs, nor signs spelled too long or too large") {
  for (const char* text : {"", "a", "é", "€", "😀", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    CAPTURE(text);
    CHECK(source::is_utf8(text));
  }
  for (const char* text : {"\xed\xa0\xbd", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
                           "\xc0\x80", "\xff", "a\xc3", "\xe2\x82", "\x80", "\xf5\x80\x80\x80"}) {
    CAPTURE(text);
    CHECK_FALSE(source::is_utf8(text));
  }
}
