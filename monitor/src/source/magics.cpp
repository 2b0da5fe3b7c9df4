#include "source/magics.hpp"

#include <algorithm>
#include <array>

#include "source/files.hpp"

namespace xleak::monitor::source {
namespace {

// Their argument, or the rest of the cell, is Python that runs here.
constexpr std::array<std::string_view, 9> kRunPython = {
    "time", "timeit", "prun", "capture", "leakcheck", "memit", "mprun", "lprun", "snakeviz"};

constexpr std::string_view kPlaceholder = "pass";

bool runs_python(std::string_view name) {
  return std::find(kRunPython.begin(), kRunPython.end(), name) != kRunPython.end();
}

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

/// Goes through a cell line by line and knows which lines begin a statement.
class Lines {
 public:
  Lines(std::string_view text, int cell) : cell_(cell) { result_.text = text; }

  PythonText run() {
    std::string& text = result_.text;
    if (cell_magic()) return std::move(result_);
    std::size_t at = 0;
    int line = 1;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (!inside_) magic_line(at, end, line);
      scan(at, end, line);
      at = end + 1;
      ++line;
    }
    return std::move(result_);
  }

 private:
  // `%%bash` makes the whole cell something else; `%%time` only its first line. In a script the
  // marker of the cell stands above it.
  bool cell_magic() {
    const std::string_view text = result_.text;
    const std::size_t first_line = std::min(text.find('\n'), text.size());
    const std::size_t above = is_marker(text.substr(0, first_line)) ? first_line : 0;
    std::size_t start = text.find_first_not_of(" \t\r\n", above);
    if (start == std::string_view::npos || text.substr(start, 2) != "%%") return false;
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const auto line = static_cast<int>(std::count(text.begin(), text.begin() + start, '\n')) + 1;
    const std::string name = magic_name(start + 2, end);
    const std::size_t rest = start + 2 + name.size();
    result_.magics.push_back(
        {cell_, line, name, std::string(trimmed(text.substr(rest, end - rest)))});
    blank(start, runs_python(name) ? end : text.size());
    return !runs_python(name);
  }

  void magic_line(std::size_t at, std::size_t end, int line) {
    const std::string_view text = result_.text;
    const std::string_view whole = trimmed(text.substr(at, end - at));
    if (whole.empty()) return;
    const auto start = static_cast<std::size_t>(whole.data() - text.data());
    const std::size_t sign = continues_ ? start : start_of_magic(start, end);
    if (continues_ || text[sign] == '!' || text[sign] == '?') {
      // A command may go on in the next line.
      const std::string_view body = trimmed(text.substr(sign, end - sign));
      if (!continues_)
        result_.magics.push_back(
            {cell_, line, std::string(1, text[sign]), std::string(trimmed(body.substr(1)))});
      continues_ = !body.empty() && body.back() == '\\';
      replace(sign, end);
      return;
    }
    if (text[sign] == '%' && sign + 1 < end && is_word(text[sign + 1])) {
      const std::string name = magic_name(sign + 1, end);
      const std::size_t rest = sign + 1 + name.size();
      result_.magics.push_back(
          {cell_, line, name, std::string(trimmed(text.substr(rest, end - rest)))});
      const std::size_t code = text.find_first_not_of(" \t", rest);
      if (runs_python(name) && code < end && text[code] != '-') return keep_python(sign, rest);
      replace(sign, end);
      return;
    }
    if (whole.back() == '?' && whole.find_first_of("#\"'") == std::string_view::npos) {
      result_.magics.push_back({cell_, line, "?", std::string(whole.substr(0, whole.size() - 1))});
      replace(start, end);
    }
  }

  // `%time f()` becomes `0;    f()`: every character of f() keeps its place.
  void keep_python(std::size_t sign, std::size_t rest) {
    const bool is_value = is_assigned(sign);
    blank(sign, rest);
    if (!is_value) result_.text.replace(sign, 2, "0;");
  }

  bool is_assigned(std::size_t at) const {
    const std::size_t before =
        at == 0 ? std::string::npos : result_.text.find_last_not_of(" \t", at - 1);
    return before != std::string::npos && result_.text[before] == '=';
  }

  // `files = !ls` and `t = %timeit -o f()` have it behind the sign of assignment.
  std::size_t start_of_magic(std::size_t start, std::size_t end) const {
    const std::string_view text = result_.text;
    std::size_t at = start;
    while (at < end &&
           (is_word(text[at]) || text[at] == '.' || text[at] == ',' || text[at] == ' ')) {
      ++at;
    }
    if (at == start || at + 1 >= end || text[at] != '=' || text[at + 1] == '=') return start;
    ++at;
    while (at < end && text[at] == ' ') ++at;
    return at < end && (text[at] == '!' || text[at] == '%') ? at : start;
  }

  std::string magic_name(std::size_t at, std::size_t end) const {
    std::size_t stop = at;
    while (stop < end && is_word(result_.text[stop])) ++stop;
    return result_.text.substr(at, stop - at);
  }

  void blank(std::size_t at, std::size_t end) {
    for (; at < end; ++at) {
      if (result_.text[at] != '\n') result_.text[at] = ' ';
    }
  }

  // The scanner of the grammar goes over all comments that follow at each of them.
  void comment(std::size_t at, std::size_t end, int line) {
    const std::string_view text = std::string_view(result_.text).substr(at, end - at);
    if (text.find("xleak:") != std::string_view::npos) {
      result_.remarks.push_back({cell_, line, std::string(trimmed(text))});
    }
    blank(at, end);
  }

  // A block must not be left empty, nor an assignment without its value.
  void replace(std::size_t at, std::size_t end) {
    const bool assigned = is_assigned(at);
    blank(at, end);
    if (assigned || end - at < kPlaceholder.size()) {
      if (end > at) result_.text[at] = '0';
      return;
    }
    result_.text.replace(at, kPlaceholder.size(), kPlaceholder);
  }

  // Follows strings and brackets, in which a line begins nothing.
  void scan(std::size_t at, std::size_t end, int line) {
    const std::string_view text = result_.text;
    const std::size_t start = at;
    while (at < end) {
      const char c = text[at];
      if (quote_ != 0) {
        if (c == '\\') {
          at += 2;
          continue;
        }
        if (c == quote_ && (!triple_ || text.substr(at, 3) == std::string(3, quote_))) {
          at += triple_ ? 3 : 1;
          quote_ = 0;
          continue;
        }
        ++at;
        continue;
      }
      if (c == '#') {
        comment(at, end, line);
        break;
      }
      if (c == '"' || c == '\'') {
        triple_ = at + 2 < text.size() && text[at + 1] == c && text[at + 2] == c;
        quote_ = c;
        at += triple_ ? 3 : 1;
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
      ++at;
    }
    const std::string_view before = trimmed(text.substr(start, end - start));
    const bool escaped = end > 0 && !before.empty() && before.back() == '\\' && !continues_;
    if (quote_ != 0 && !triple_ && !escaped) quote_ = 0;
    inside_ = quote_ != 0 || depth_ > 0 || escaped;
  }

  PythonText result_;
  int cell_;
  bool inside_ = false;
  bool continues_ = false;
  char quote_ = 0;
  bool triple_ = false;
  int depth_ = 0;
};

bool may_hold_more_than_python(std::string_view text) {
  if (text.find('#') != std::string_view::npos) return true;
  for (std::size_t at = text.find_first_of("%!?"); at != std::string_view::npos;
       at = text.find_first_of("%!?", at + 1)) {
    if (text[at] == '?') return true;
    std::size_t before = at;
    while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t' ||
                          text[before - 1] == '%' || text[before - 1] == '=')) {
      --before;
    }
    if (before == 0 || text[before - 1] == '\n') return true;
    if (before < at && text[at - 1] != '%' &&
        text.substr(before, at - before).find('=') != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

PythonText only_python(std::string_view text, int cell) {
  if (!may_hold_more_than_python(text)) return {std::string(text), {}, {}};
  return Lines(text, cell).run();
}

}  // namespace xleak::monitor::source
