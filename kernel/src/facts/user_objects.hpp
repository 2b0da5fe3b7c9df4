#pragma once
#include <Python.h>

#include "reference.hpp"

namespace xleak::facts {

// What may be asked of an object of the user's without running any code of theirs: types are
// compared by identity, containers are read as C has them, whatever a subclass answers. All of it
// wants the GIL.

// `types` is a type or a tuple of types, as for isinstance().

/// From here on a deque is what `_collections` has under that name now.
void remember_deque();

/// Whether `value` is an instance of one of `types` itself, and of no subtype.
bool is_exactly(PyObject* value, PyObject* types);

/// Whether the type of `value` is one of `types` or derives from one.
bool is_kind_of(PyObject* value, PyObject* types);

// The copies of entries and elements are taken in one piece: no thread and no finalizer changes the
// container meanwhile. They are empty for an object of another kind. Where one is null, a Python
// error is set.

/// The numbers of the elements that are wanted, as of a slice.
struct Part {
  Py_ssize_t start = 0;
  Py_ssize_t stop = PY_SSIZE_T_MAX;
};

/// The (key, value) pairs of a dictionary.
Reference items_of(PyObject* mapping, Part part);

/// A dictionary of those whose keys are exact text or integers: to look up another one would ask it
/// for its hash.
Reference entries_of(PyObject* mapping);

/// The keys of a dictionary that are exact text.
Reference names_in(PyObject* mapping);

/// The elements of a list, a tuple, a set, a frozenset or a deque, or the values of a dictionary.
Reference values_of(PyObject* container, Part part);

/// What a dictionary has under `key`, exact text or an exact integer; null, without an error, where
/// it has nothing. Other keys are never compared, so entry by entry is looked at.
Reference value_at(PyObject* mapping, PyObject* key);

/// The dictionary of the imported module `name`, which a module that loads itself when it is asked
/// is not asked for. An empty one where sys.modules has none, or another object, under that name.
Reference fields_of_module(PyObject* name);

}  // namespace xleak::facts
