#pragma once
#include <cstdint>
#include <vector>

#include "storages.hpp"

namespace xleak::libtorch {

/// A storage that the graph of a live tensor keeps.
struct KeptStorage {
  std::uintptr_t tensor = 0;  ///< id() of the tensor.
  StorageFacts storage;
};

/// What the graphs of all live tensors keep: a row for each tensor and each storage that its graph
/// leads to. Of tensors that were not reached in time nothing is told. Needs the GIL.
std::vector<KeptStorage> kept_by_graphs(double limit_ms);

}  // namespace xleak::libtorch
