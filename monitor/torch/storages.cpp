#include "storages.hpp"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>

#include "tensor_account.hpp"

namespace xleak::libtorch {
namespace {

std::vector<at::Tensor> parts_of(const at::Tensor& tensor) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (auto* sparse = dynamic_cast<at::SparseTensorImpl*>(impl)) {
    return {sparse->indices(), sparse->values()};
  }
  if (auto* rows = dynamic_cast<at::SparseCsrTensorImpl*>(impl)) {
    return {rows->compressed_indices(), rows->plain_indices(), rows->values()};
  }
  return {};
}

}  // namespace

std::vector<c10::StorageImpl*> storages_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  std::vector<c10::StorageImpl*> storages;
  if (tensor.unsafeGetTensorImpl()->has_storage()) {
    auto* storage = tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
    if (storage != nullptr) storages.push_back(storage);
    return storages;
  }
  for (const at::Tensor& part : parts_of(tensor)) {
    for (auto* storage : storages_of(part)) storages.push_back(storage);
  }
  return storages;
}

std::optional<StorageFacts> describe(const c10::StorageImpl& storage) {
  try {
    const void* address = storage.data_ptr().get();
    if (address == nullptr || storage.device().type() == c10::DeviceType::Meta) return std::nullopt;
    StorageFacts facts;
    facts.key = reinterpret_cast<std::uintptr_t>(&storage);
    facts.address = reinterpret_cast<std::uintptr_t>(address);
    facts.bytes = static_cast<std::int64_t>(storage.nbytes());
    facts.device = storage.device().str();
    const auto block = TensorAccount::instance().find(facts.address);
    if (block && block->cell != 0) facts.cell = block->cell;
    return facts;
  } catch (const c10::Error&) {
    // A fake tensor refuses its address; a symbolic size is no number of bytes.
    return std::nullopt;
  }
}

}  // namespace xleak::libtorch
