#pragma once
#include <pybind11/pybind11.h>

namespace xleak::bindings {

void register_cells(pybind11::module_& m);
void register_findings(pybind11::module_& m);
void register_flight(pybind11::module_& m);
void register_frames(pybind11::module_& m);
void register_graph(pybind11::module_& m);
void register_guard(pybind11::module_& m);
void register_heap(pybind11::module_& m);
void register_large_blocks(pybind11::module_& m);
void register_facts(pybind11::module_& m);
void register_process(pybind11::module_& m);
void register_sight(pybind11::module_& m);
void register_source(pybind11::module_& m);
void register_user_objects(pybind11::module_& m);

}  // namespace xleak::bindings
