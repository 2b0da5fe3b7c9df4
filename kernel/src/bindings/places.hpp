#pragma once
#include <pybind11/pybind11.h>

#include "xleak/monitor/large_blocks.hpp"

namespace xleak::bindings {

/// (file, line, function), as the user wrote them; None where no line is known.
pybind11::object place_of(monitor::SiteIndex index);

}  // namespace xleak::bindings
