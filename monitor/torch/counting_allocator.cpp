#include "counting_allocator.hpp"

#include <c10/core/CPUAllocator.h>

#include <memory>
#include <stdexcept>

#include "tensor_account.hpp"

namespace xleak::libtorch {
namespace {

// Set once, before the first block of ours can be freed.
c10::DeleterFnPtr wrapped_deleter = nullptr;
TensorAccount* account = nullptr;

std::uintptr_t address_of(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block);
}

void uncount_and_free(void* block) {
  account->remove(address_of(block));
  wrapped_deleter(block);
}

/// Counts what another allocator hands out, and does nothing else to it.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& wrapped) : wrapped_(wrapped) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr data = wrapped_.allocate(bytes);
    if (data.get_context() != nullptr &&
        data.compare_exchange_deleter(wrapped_deleter, &uncount_and_free)) {
      account->add(address_of(data.get_context()), static_cast<std::int64_t>(bytes));
    }
    return data;
  }

  c10::DeleterFnPtr raw_deleter() const override { return &uncount_and_free; }

  bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return wrapped_.is_simple_data_ptr(data);
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    wrapped_.copy_data(to, from, bytes);
  }

 private:
  c10::Allocator& wrapped_;
};

// Never destroyed: storages keep the address of the allocator that made them.
CountingAllocator* installed = nullptr;

}  // namespace

bool install_allocator() {
  if (installed != nullptr) return false;
  c10::Allocator* wrapped = c10::GetCPUAllocator();
  const c10::DeleterFnPtr deleter = wrapped->raw_deleter();
  if (deleter == nullptr) {
    throw std::runtime_error(
        "cannot follow CPU tensors: torch's allocator was replaced by one whose blocks have no "
        "common deleter. Tensor memory per cell is unknown; all else works");
  }
  wrapped_deleter = deleter;
  account = &TensorAccount::instance();
  installed = std::make_unique<CountingAllocator>(*wrapped).release();
  c10::SetCPUAllocator(installed);
  return true;
}

bool allocator_installed() noexcept {
  return installed != nullptr && c10::GetCPUAllocator() == installed;
}

bool adopt(c10::DataPtr& data, std::int64_t bytes, int cell) noexcept {
  if (installed == nullptr || data.get_context() == nullptr) return false;
  if (!data.compare_exchange_deleter(wrapped_deleter, &uncount_and_free)) return false;
  account->add({address_of(data.get_context()), bytes, cell});
  return true;
}

}  // namespace xleak::libtorch
