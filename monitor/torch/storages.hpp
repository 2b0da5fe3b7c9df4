#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xleak::libtorch {

/// The memory behind tensors.
struct StorageFacts {
  std::uintptr_t key = 0;  ///< Address of torch's StorageImpl: the same for all views.
  std::uintptr_t address = 0;
  std::int64_t bytes = 0;
  std::string device;       ///< As torch writes it: "cpu", "cuda:0".
  std::optional<int> cell;  ///< The cell that allocated it, where it was seen.
};

/// The storages of a tensor: one of a dense tensor, several of a sparse one, none where it has no
/// memory (meta, fake, wrappers). Dispatches no operator, so no user code runs.
std::vector<c10::StorageImpl*> storages_of(const at::Tensor& tensor);

/// Empty where the storage has no memory, or torch does not say how much.
std::optional<StorageFacts> describe(const c10::StorageImpl& storage);

}  // namespace xleak::libtorch
