#include "shell_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <unordered_map>
#include <utility>

#include "bytes.hpp"
#include "python_versions.hpp"
#include "xleak/monitor/page_memory.hpp"

namespace xleak::facts {
namespace {

constexpr std::array<const char*, 3> kUnderscores = {"_", "__", "___"};
// IPython counts cells; a longer number is a name of the user's own.
constexpr Py_ssize_t kMostDigits = 8;
constexpr long kMostCells = 99'999'999;  // Of as many digits.

template <typename Use>
void each(PyObject* dict, Use use) {
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &position, &key, &value)) use(key, value);
}

/// The n of `_n`; 0 where it is another name.
long number_of(PyObject* name) {
  if (!PyUnicode_CheckExact(name) || !PyUnicode_IS_ASCII(name)) return 0;
  const Py_ssize_t length = PyUnicode_GET_LENGTH(name);
  const auto* text = static_cast<const char*>(PyUnicode_DATA(name));
  if (length < 2 || length > kMostDigits + 1 || text[0] != '_' || text[1] == '0') return 0;
  long number = 0;
  for (Py_ssize_t at = 1; at < length; ++at) {
    if (text[at] < '0' || text[at] > '9') return 0;
    number = 10 * number + (text[at] - '0');
  }
  return number;
}

/// Which of the underscores it is; their number where it is none.
std::size_t underscore_of(PyObject* name) {
  if (!PyUnicode_CheckExact(name) || PyUnicode_GET_LENGTH(name) > 3) return kUnderscores.size();
  const auto is_name = [name](const char* it) {
    return PyUnicode_CompareWithASCIIString(name, it) == 0;
  };
  return static_cast<std::size_t>(std::find_if(kUnderscores.begin(), kUnderscores.end(), is_name) -
                                  kUnderscores.begin());
}

bool can_be_encoded(PyObject* name) {
  const int kind = PyUnicode_KIND(name);
  if (kind == PyUnicode_1BYTE_KIND) return true;
  for (Py_ssize_t at = 0; at < PyUnicode_GET_LENGTH(name); ++at) {
    const Py_UCS4 character = PyUnicode_READ(kind, PyUnicode_DATA(name), at);
    if (character >= 0xD800 && character <= 0xDFFF) return false;
  }
  return true;
}

PyObject* value_in(PyObject* dict, PyObject* key) {
  PyObject* value = PyDict_GetItemWithError(dict, key);
  if (value == nullptr) PyErr_Clear();
  return value;
}

struct Entry {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
};

using Numbered = std::pmr::vector<std::pair<long, Entry>>;

/// Of one namespace what its names `_`, `__`, `___` and `_n` stand for.
struct Namespace {
  Namespace(PyObject* dict, std::pmr::memory_resource* memory) : numbered(memory) {
    each(dict, [this](PyObject* key, PyObject* value) {
      const std::size_t underscore = underscore_of(key);
      const long number = number_of(key);
      if (underscore < kUnderscores.size()) underscores[underscore] = {key, value};
      if (number != 0) numbered.emplace_back(number, Entry{key, value});
    });
  }

  std::array<Entry, kUnderscores.size()> underscores;
  Numbered numbered;
};

/// `Out` by number; a key of another type is the user's own.
Numbered shown_in(PyObject* out, std::pmr::memory_resource* memory) {
  Numbered shown(memory);
  each(out, [&shown](PyObject* key, PyObject* value) {
    if (!PyLong_CheckExact(key)) return;
    int overflow = 0;
    const long number = PyLong_AsLongAndOverflow(key, &overflow);
    const bool is_of_cell = overflow == 0 && number > 0 && number <= kMostCells;
    shown.emplace_back(is_of_cell ? number : 0, Entry{key, value});
  });
  return shown;
}

using Values = std::pmr::unordered_map<long, PyObject*>;

Values by_number(const Numbered& entries, std::pmr::memory_resource* memory) {
  Values values(memory);
  values.reserve(entries.size());
  for (const auto& [number, entry] : entries) values.emplace(number, entry.value);
  return values;
}

/// `Out[n]` decides what n stands for, then the names `_n`.
void find_first(monitor::LargeVector<CachedEntry>& entries, std::pmr::memory_resource* memory) {
  Values meant(memory);
  for (const CachedEntry& entry : entries) {
    if (entry.number != 0) meant.emplace(entry.number, entry.value);
  }
  std::pmr::unordered_map<PyObject*, long> first(memory);
  for (const auto& [number, value] : meant) {
    const auto [known, is_new] = first.emplace(value, number);
    if (!is_new) known->second = std::min(known->second, number);
  }
  for (CachedEntry& entry : entries) {
    const auto found = first.find(entry.value);
    if (found != first.end()) entry.first = found->second;
  }
}

bool is_in(const Values& values, long number, PyObject* value) {
  const auto found = values.find(number);
  return found != values.end() && found->second == value;
}

}  // namespace

bool is_numbered(PyObject* name) { return number_of(name) != 0; }

bool is_small_scalar(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (type == &PyUnicode_Type) return PyUnicode_GET_LENGTH(value) * 4 < kSmallBytes;
  if (type == &PyLong_Type) return digits_of(value) * type->tp_itemsize < kSmallBytes;
  return type == &PyFloat_Type || type == &PyBool_Type || type == &PyComplex_Type ||
         value == Py_None;
}

monitor::LargeVector<CachedEntry> cached_entries(const ShellDicts& dicts, bool scalars) {
  monitor::PageMemory pages;
  auto* const memory = pages.get();
  monitor::LargeVector<CachedEntry> found;
  const auto add = [&](Place place, const Entry& entry, long number) {
    if (scalars || !is_small_scalar(entry.value))
      found.push_back({place, entry.key, entry.value, number});
  };
  const auto shown = shown_in(dicts.out, memory);
  const Namespace user(dicts.user_ns, memory), hidden(dicts.hidden, memory),
      hook(dicts.hook, memory);
  std::pmr::unordered_map<long, Entry> named(user.numbered.begin(), user.numbered.end(),
                                             user.numbered.size(), memory);
  for (const auto& [number, entry] : shown) add(Place::out, entry, number);
  for (const auto& [number, entry] : hidden.numbered) {
    add(Place::hidden, entry, number);
    const auto same = named.find(number);
    if (same == named.end() || same->second.value != entry.value) continue;
    add(Place::user_ns, same->second, number);
    named.erase(same);
  }
  for (std::size_t at = 0; at < kUnderscores.size(); ++at) {
    const Entry &of_hook = hook.underscores[at], &of_hidden = hidden.underscores[at];
    if (of_hook.key != nullptr) add(Place::hook, of_hook, 0);
    if (of_hidden.key != nullptr) add(Place::hidden, of_hidden, 0);
    const Entry& of_user = user.underscores[at];
    const bool is_cached = of_user.value == of_hook.value || of_user.value == of_hidden.value;
    if (of_user.key != nullptr && is_cached) add(Place::user_ns, of_user, 0);
  }
  const Values in_out = by_number(shown, memory);
  for (const auto& [number, entry] : user.numbered) {
    if (named.count(number) != 0 && is_in(in_out, number, entry.value))
      add(Place::user_ns, entry, number);
  }
  find_first(found, memory);
  return found;
}

monitor::LargeVector<PyObject*> user_names(const ShellDicts& dicts) {
  monitor::PageMemory pages;
  const Values in_out = by_number(shown_in(dicts.out, pages.get()), pages.get());
  const auto is_cached = [&](PyObject* name, PyObject* value) {
    if (underscore_of(name) < kUnderscores.size()) return value_in(dicts.hook, name) == value;
    const long number = number_of(name);
    return number != 0 && is_in(in_out, number, value);
  };
  monitor::LargeVector<PyObject*> names;
  each(dicts.user_ns, [&](PyObject* name, PyObject* value) {
    if (!PyUnicode_CheckExact(name) || !can_be_encoded(name)) return;
    if (value_in(dicts.hidden, name) == value || is_cached(name, value)) return;
    names.push_back(name);
  });
  return names;
}

}  // namespace xleak::facts
