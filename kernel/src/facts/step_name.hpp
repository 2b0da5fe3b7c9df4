#pragma once
#include <Python.h>

#include <string>

namespace xleak::facts {

/// How `from` refers to `to`, as its user would write it behind the name of `from`: "['a']", "[3]",
/// ".weight", ".__closure__"; " → TYPE" where Python has no expression for it. Empty where `from`
/// refers to it no more. Runs no code of the objects.
std::string step_name(PyObject* from, PyObject* to);

/// A whole way in the shortest form: `m.__dict__['w']` is `m.w`.
std::string shortened(std::string way);

}  // namespace xleak::facts
