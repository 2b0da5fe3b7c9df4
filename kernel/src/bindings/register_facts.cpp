#include "bindings/register.hpp"

namespace xleak::bindings {

void register_facts(pybind11::module_&) {}

}  // namespace xleak::bindings
