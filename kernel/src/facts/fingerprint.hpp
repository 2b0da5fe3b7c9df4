#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

namespace xleak::facts {

/// Changes when an entry of `entries`, a reference to one, a value of the `namespaces` or `last`
/// does. All but `last`, which may be null, are dictionaries. Small text and numbers do not count.
std::uint64_t fingerprint(PyObject* entries, const std::vector<PyObject*>& namespaces,
                          PyObject* last);

}  // namespace xleak::facts
