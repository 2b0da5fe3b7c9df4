#include "source/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "source/python_json.hpp"
#include "xleak/monitor/error.hpp"

namespace xleak::monitor::source {
namespace {

using nlohmann::json;

// Offsets in a cell are 32 bits; nobody writes such a file by hand.
constexpr std::size_t kLargestFile = std::size_t{1} << 30;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Of format 1 the cells have other members, and what a later one has nobody knows.
constexpr int kFirstFormat = 2, kLastFormat = 4;

bool is_prose(std::string_view marker) {
  for (const std::string_view kind : {"[markdown]", "[md]", "[raw]"}) {
    if (marker.find(kind) != std::string_view::npos) return true;
  }
  return false;
}

// A source is one string or a list of them.
std::string joined(const json& source) {
  if (source.is_string()) return source.get<std::string>();
  std::string text;
  if (!source.is_array()) return text;
  for (const json& line : source) {
    if (line.is_string()) text += line.get_ref<const std::string&>();
  }
  return text;
}

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

std::string text_of(const json& object, const char* outer, const char* key) {
  const json* inner = member(object, outer);
  const json* value = inner == nullptr ? nullptr : member(*inner, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool is_python(const json& notebook) {
  const json* metadata = member(notebook, "metadata");
  if (metadata == nullptr) return true;
  std::string language = text_of(*metadata, "language_info", "name");
  if (language.empty()) language = text_of(*metadata, "kernelspec", "language");
  for (char& c : language) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return language.empty() || language == "python" || language == "python3" || language == "ipython";
}

json parsed(std::string_view text) {
  // The parser takes a NUL for the end of the text.
  if (text.find('\0') != std::string_view::npos) throw Error("it is not valid JSON");
  json notebook = json::parse(text, nullptr, false);
  // Few notebooks need it, and it is one more copy.
  if (notebook.is_discarded()) notebook = json::parse(in_strict_json(text), nullptr, false);
  if (notebook.is_discarded() || !notebook.is_object()) throw Error("it is not valid JSON");
  return notebook;
}

// A notebook without a format is read: many are made by hand.
void check_format(const json& notebook) {
  const json* format = member(notebook, "nbformat");
  if (format == nullptr) return;
  if (!format->is_number()) throw Error("its nbformat is no number");
  const auto number = format->get<double>();
  if (number >= kFirstFormat && number <= kLastFormat) return;
  const std::string said = format->dump();
  throw Error("its format is " + said + ", and xleak reads notebooks of format 2 to 4");
}

void add_cells(const json& list, std::vector<SourceCell>& cells) {
  if (!list.is_array()) throw Error("its cells are not a list");
  for (const json& cell : list) {
    const json* type = member(cell, "cell_type");
    if (type == nullptr || *type != "code") continue;
    const json* source = member(cell, "source");
    if (source == nullptr) source = member(cell, "input");
    SourceCell code;
    code.text = source == nullptr ? std::string() : joined(*source);
    code.index = static_cast<int>(cells.size()) + 1;
    const json* metadata = member(cell, "metadata");
    const json* tags = metadata == nullptr ? nullptr : member(*metadata, "tags");
    if (tags != nullptr && tags->is_array()) {
      for (const json& tag : *tags) {
        if (tag.is_string()) code.tags.push_back(tag.get<std::string>());
      }
    }
    cells.push_back(std::move(code));
  }
}

}  // namespace

bool is_marker(std::string_view line) {
  if (line.substr(0, 4) == "# %%") return line.size() == 4 || line[4] == ' ' || line[4] == '\r';
  return line.substr(0, 3) == "#%%" && (line.size() == 3 || line[3] == ' ' || line[3] == '\r');
}

std::vector<SourceCell> cells_of_script(std::string_view text) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  std::vector<SourceCell> cells;
  std::size_t start = 0;
  int line = 1;
  int first_line = 1;
  bool is_code = true;
  const auto close = [&](std::size_t end) {
    const std::string_view body = text.substr(start, end - start);
    if (is_code && body.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      cells.push_back({std::string(body), static_cast<int>(cells.size()) + 1, first_line});
    }
  };
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view content = text.substr(at, end - at);
    if (is_marker(content)) {
      close(at);
      start = at;
      first_line = line;
      is_code = !is_prose(content);
    }
    at = end + 1;
  }
  close(text.size());
  return cells;
}

std::vector<SourceCell> cells_of_notebook(std::string_view text) {
  const json notebook = parsed(text);
  check_format(notebook);
  if (!is_python(notebook)) throw Error("it is not written in Python");
  std::vector<SourceCell> cells;
  if (const json* list = member(notebook, "cells")) {
    add_cells(*list, cells);
    return cells;
  }
  const json* sheets = member(notebook, "worksheets");
  if (sheets == nullptr || !sheets->is_array()) throw Error("it has no cells");
  for (const json& sheet : *sheets) {
    if (const json* list = member(sheet, "cells")) add_cells(*list, cells);
  }
  return cells;
}

std::string read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw Error(std::strerror(errno));
  struct stat facts {};
  std::string text;
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(descriptor);
    throw Error("it is not a regular file");
  }
  if (static_cast<std::size_t>(facts.st_size) > kLargestFile) {
    ::close(descriptor);
    throw Error("it is larger than 1 GiB");
  }
  text.resize(static_cast<std::size_t>(facts.st_size));
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t more = ::read(descriptor, text.data() + got, text.size() - got);
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  ::close(descriptor);
  text.resize(got);
  return text;
}

std::optional<std::string> read_if_there(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) return std::nullopt;
  try {
    return read_file(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

namespace {

// How many bytes the character at the start of the text has, by the table of Unicode (D92,
// well-formed UTF-8): neither longer than needed, nor half of a surrogate pair, nor beyond
// U+10FFFF. 0: none.
std::size_t character_size(std::string_view text) {
  const auto byte = [text](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  const auto first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const unsigned lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < lowest || byte(1) > highest) return 0;
  for (std::size_t at = 2; at < size; ++at) {
    if ((byte(at) & 0xc0u) != 0x80u) return 0;
  }
  return size;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace xleak::monitor::source
