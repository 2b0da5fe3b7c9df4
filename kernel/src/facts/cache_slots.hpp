#pragma once
#include <Python.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "closure.hpp"

namespace xleak::facts {

/// Where IPython keeps what was shown. All are exact dictionaries; `last_result` may be null.
struct CacheView {
  PyObject* out = nullptr;
  PyObject* user_ns = nullptr;
  PyObject* hidden_ns = nullptr;
  PyObject* display_hook = nullptr;
  PyObject* last_result = nullptr;
  std::set<std::string> tool_names;  ///< Names in user_ns that a tool made, not the user.
  std::set<int> mentioned;           ///< Entries that the user's source uses: they are in use.
  Pointers barriers;                 ///< Never followed: the shell and its dictionaries.
};

/// What the caches hold now: the entries, the references to each, and the user's own names.
struct CacheSlots {
  struct Slot {
    PyObject* object;
    const char* place;  ///< A name, or null for Out[number].
    int number = 0;
    bool made_by_tool = false;
    std::string label() const;
  };
  std::map<int, PyObject*> entries;
  CacheReferences references;
  std::vector<Slot> slots;
  Pointers named;  ///< Values of the names that are the user's own.

  std::vector<std::string> labels_of(PyObject* object) const;
};

/// `known`: the entries of the last look, for a value that only `_` or the display hook has left.
CacheSlots read_slots(const CacheView& view, const std::map<int, PyObject*>& known);

/// Changes when a name, an entry or a hidden reference does. Scalars and text do not count.
std::uint64_t fingerprint(const CacheView& view);

}  // namespace xleak::facts
