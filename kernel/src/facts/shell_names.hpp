#pragma once
#include <Python.h>

#include "xleak/monitor/large_vector.hpp"

namespace xleak::facts {

/// The dictionaries in which IPython keeps names and what cells showed: the user's namespace, the
/// hidden one, `Out`, and the attributes of the display hook. Borrowed.
struct ShellDicts {
  PyObject* user_ns;
  PyObject* hidden;
  PyObject* out;
  PyObject* hook;
};

/// Which of them has an entry.
enum class Place { out, user_ns, hidden, hook };

/// A reference of the shell's to a value that a cell showed. Borrowed.
struct CachedEntry {
  Place place;
  PyObject* key;  ///< As the dictionary has it: an integer in `Out`, a text elsewhere.
  PyObject* value;
  long number;     ///< The n of `_n` or `Out[n]`; 0 for `_`, `__`, `___` and what no cell can have.
  long first = 0;  ///< The least n that has the same value; 0 where there is none.
};

/// A name `_n`, which IPython gives to what a cell showed.
bool is_numbered(PyObject* name);

/// Text or a number, and small.
bool is_small_scalar(PyObject* value);

/// All of them: `Out`, then what its hidden names `_n` stand for, each before the user's name for
/// the same, then `_`, `__` and `___`, then the user's names for entries of `Out` alone. Reads all
/// of it without running other code. Without `scalars`, values that are too small to matter are
/// left out.
monitor::LargeVector<CachedEntry> cached_entries(const ShellDicts& dicts, bool scalars);

/// The user's names that are not the shell's doing. Borrowed references to exact texts that can be
/// encoded.
monitor::LargeVector<PyObject*> user_names(const ShellDicts& dicts);

}  // namespace xleak::facts
