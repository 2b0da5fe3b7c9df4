#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "storages.hpp"

namespace xleak::libtorch {

/// A storage that the graph of a live tensor keeps.
struct KeptStorage {
  std::uintptr_t tensor = 0;  ///< id() of the tensor.
  StorageFacts storage;
};

struct KeptByGraphs {
  std::vector<KeptStorage> rows;
  bool complete = false;  ///< False: nothing is told of the tensors that were not reached in time.
};

/// What the graphs of all live tensors keep: a row for each tensor and each storage that its graph
/// leads to. Asks `interrupted`, where there is one, now and then. Needs the GIL.
KeptByGraphs kept_by_graphs(double limit_ms, const std::function<bool()>& interrupted);

}  // namespace xleak::libtorch
