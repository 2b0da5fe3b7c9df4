#include <pybind11/functional.h>
#include <torch/csrc/utils/pybind.h>

#include "census.hpp"
#include "counting_allocator.hpp"
#include "cuda_trace.hpp"
#include "device_stats.hpp"
#include "graph.hpp"
#include "kept_by_graphs.hpp"
#include "passes.hpp"
#include "storage_watch.hpp"
#include "tensor_account.hpp"

using namespace xleak::libtorch;

namespace {

// Kept, peak, allocated.
using CellTuple = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

std::size_t install(int cell) { return install_allocator() ? adopt_older(cell) : 0; }

std::optional<CellTuple> end_cell(int index) {
  const auto use = TensorAccount::instance().end_cell(index);
  if (!use) return std::nullopt;
  return CellTuple{use->kept_bytes, use->peak_bytes, use->allocated_bytes};
}

std::optional<CellTuple> scope_use(int scope) {
  const auto use = TensorAccount::instance().scope_use(scope);
  if (!use) return std::nullopt;
  return CellTuple{use->kept_bytes, use->peak_bytes, use->allocated_bytes};
}

std::vector<std::tuple<std::uintptr_t, std::int64_t, int>> blocks(std::int64_t min_bytes) {
  std::vector<std::tuple<std::uintptr_t, std::int64_t, int>> rows;
  for (const Block& block : TensorAccount::instance().at_least(min_bytes)) {
    rows.emplace_back(block.address, block.bytes, block.cell);
  }
  return rows;
}

std::vector<std::tuple<std::uintptr_t, std::int64_t, std::int64_t, int>> grown() {
  std::vector<std::tuple<std::uintptr_t, std::int64_t, std::int64_t, int>> rows;
  for (const GrownBlock& block : TensorAccount::instance().grown()) {
    rows.emplace_back(block.address, block.bytes, block.copied_bytes, block.steps);
  }
  return rows;
}

std::vector<std::pair<std::int64_t, std::int64_t>> churned() {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (const ChurnedBlocks& blocks : TensorAccount::instance().churned()) {
    rows.emplace_back(blocks.bytes, blocks.count);
  }
  return rows;
}

void register_allocator(py::module_& m) {
  m.def("install", &install, py::arg("cell") = 0);
  m.def("installed", &allocator_installed);
  m.def(
      "begin_cell", [](int index) { TensorAccount::instance().begin_cell(index); },
      py::arg("index"));
  m.def("end_cell", &end_cell, py::arg("index"));
  m.def("begin_scope", [] { return TensorAccount::instance().begin_scope(); });
  m.def("scope_use", &scope_use, py::arg("scope"));
  m.def(
      "older_freed_bytes",
      [](int scope) { return TensorAccount::instance().older_freed_bytes(scope); },
      py::arg("scope"));
  m.def(
      "end_scope", [](int scope) { TensorAccount::instance().end_scope(scope); }, py::arg("scope"));
  m.def("live_bytes", [] { return TensorAccount::instance().live_bytes(); });
  m.def("grown", &grown);
  m.def("churned", &churned);
  m.def("blocks", &blocks, py::arg("min_bytes"));
}

void register_storage(py::module_& m) {
  py::class_<StorageFacts>(m, "Storage", py::module_local())
      .def_readonly("key", &StorageFacts::key)
      .def_readonly("address", &StorageFacts::address)
      .def_readonly("bytes", &StorageFacts::bytes)
      .def_readonly("device", &StorageFacts::device)
      .def_readonly("cell", &StorageFacts::cell);
}

void register_census(py::module_& m) {
  py::class_<StorageWatch>(m, "StorageWatch", py::module_local())
      .def("alive", &StorageWatch::alive);
  m.def(
      "watch", [](const py::object& tensor) { return watch_storages(tensor.ptr()); },
      py::arg("tensor"));
  py::class_<StorageRow>(m, "StorageRow", py::module_local())
      .def_readonly("storage", &StorageRow::storage)
      .def_readonly("tensors", &StorageRow::tensors)
      .def_readonly("dtype", &StorageRow::dtype)
      .def_readonly("layouts", &StorageRow::layouts)
      .def_readonly("shape", &StorageRow::shape)
      .def_readonly("requires_grad", &StorageRow::requires_grad)
      .def_readonly("is_gradient", &StorageRow::is_gradient)
      .def_readonly("grad_fn", &StorageRow::grad_fn);
  m.def("census", &census);
}

void register_graph(py::module_& m) {
  py::class_<SavedStorage>(m, "SavedStorage", py::module_local())
      .def_readonly("storage", &SavedStorage::storage)
      .def_readonly("node", &SavedStorage::node);
  py::class_<KeptStorage>(m, "KeptStorage", py::module_local())
      .def_readonly("tensor", &KeptStorage::tensor)
      .def_readonly("storage", &KeptStorage::storage);
  py::class_<GraphFacts>(m, "Graph", py::module_local())
      .def_readonly("nodes", &GraphFacts::nodes)
      .def_readonly("depth", &GraphFacts::depth)
      .def_readonly("hooks", &GraphFacts::hooks)
      .def_readonly("packed", &GraphFacts::packed)
      .def_readonly("released", &GraphFacts::released)
      .def_readonly("opaque", &GraphFacts::opaque)
      .def_readonly("saved", &GraphFacts::saved)
      .def_readonly("parameters", &GraphFacts::parameters)
      .def_readonly("contexts", &GraphFacts::contexts);
  m.def(
      "graph", [](const py::object& object) { return graph_of(object.ptr()); },
      py::arg("tensor_or_node"));
  py::class_<Passes>(m, "Passes", py::module_local())
      .def_readonly("count", &Passes::count)
      .def_readonly("in_sequence", &Passes::in_sequence)
      .def_readonly("widest", &Passes::widest)
      .def_readonly("node", &Passes::node);
  m.def(
      "passes", [](const py::object& object) { return passes_of(object.ptr()); },
      py::arg("tensor_or_node"));
  m.def(
      "leads_to",
      [](const py::object& object, NodeId node) { return leads_to(object.ptr(), node); },
      py::arg("tensor_or_node"), py::arg("node"));
  py::class_<KeptByGraphs>(m, "KeptByGraphs", py::module_local())
      .def_readonly("rows", &KeptByGraphs::rows)
      .def_readonly("complete", &KeptByGraphs::complete);
  m.def("kept_by_graphs", &kept_by_graphs, py::arg("limit_ms"), py::arg("interrupted") = nullptr);
}

void register_devices(py::module_& m) {
  py::class_<DeviceStats>(m, "DeviceStats", py::module_local())
      .def_readonly("device", &DeviceStats::device)
      .def_readonly("allocated_bytes", &DeviceStats::allocated_bytes)
      .def_readonly("allocated_peak_bytes", &DeviceStats::allocated_peak_bytes)
      .def_readonly("reserved_bytes", &DeviceStats::reserved_bytes)
      .def_readonly("inactive_split_bytes", &DeviceStats::inactive_split_bytes)
      .def_readonly("handed_out_bytes", &DeviceStats::handed_out_bytes)
      .def_readonly("retries", &DeviceStats::retries)
      .def_readonly("out_of_memory", &DeviceStats::out_of_memory);
  m.def("has_device_stats", &has_device_stats);
  m.def("device_stats", &device_stats);
  m.def("device_reader", [] {
    return py::capsule(reinterpret_cast<void*>(&read_devices), "xleak.device_reader.1");
  });
  m.def("follows_cuda", &follows_cuda);
  m.def("begin_device_cell", &begin_device_cell, py::arg("index"));
  m.def("end_device_cell", &end_device_cell, py::arg("index"));
}

}  // namespace

// Documented in magics/xleak/_torch.pyi.
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  register_allocator(m);
  register_storage(m);
  register_census(m);
  register_graph(m);
  register_devices(m);
}
