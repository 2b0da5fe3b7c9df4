#include "census.hpp"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/python_variable.h>

#include <stdexcept>
#include <unordered_map>

#include "counting_allocator.hpp"
#include "tracked_objects.hpp"

namespace xleak::libtorch {
namespace {

class Rows {
 public:
  void add(std::uintptr_t id, const at::Tensor& tensor) {
    const auto* meta = torch::autograd::impl::get_autograd_meta(tensor);
    for (c10::StorageImpl* storage : storages_of(tensor)) {
      StorageRow* row = row_of(*storage);
      if (row == nullptr) continue;
      if (id != 0) {
        row->tensors.push_back(id);
        row->layouts.push_back(layout_of(*tensor.unsafeGetTensorImpl()));
      }
      row->is_gradient |= id == 0;
      row->requires_grad |= meta != nullptr && meta->requires_grad_;
      row->requires_grad |= meta != nullptr && meta->grad_fn_;
      if (!is_larger(*storage, tensor)) continue;
      row->dtype = std::string(tensor.dtype().name());
      row->shape = shape_of(tensor);
      row->grad_fn.reset();
      if (meta != nullptr && meta->grad_fn_) row->grad_fn = meta->grad_fn_->name();
    }
    // The field, not grad(): that warns for a tensor which is no leaf.
    if (meta != nullptr && meta->grad_.defined() && id != 0) add(0, meta->grad_);
  }

  std::vector<StorageRow> take() { return std::move(rows_); }

 private:
  StorageRow* row_of(const c10::StorageImpl& storage) {
    const auto key = reinterpret_cast<std::uintptr_t>(&storage);
    const auto known = index_.find(key);
    if (known != index_.end()) return &rows_[known->second];
    auto facts = describe(storage);
    if (!facts) return nullptr;
    index_.emplace(key, rows_.size());
    rows_.push_back({std::move(*facts), {}, {}, {}, {}, false, false, std::nullopt});
    return &rows_.back();
  }

  // Elements as the tensor shows them: of equals the first one seen stays.
  bool is_larger(const c10::StorageImpl& storage, const at::Tensor& tensor) {
    std::int64_t& largest = elements_.try_emplace(&storage, -1).first->second;
    const std::int64_t elements =
        tensor.unsafeGetTensorImpl()->sym_numel().maybe_as_int().value_or(0);
    if (elements <= largest) return false;
    largest = elements;
    return true;
  }

  static std::vector<std::int64_t> shape_of(const at::Tensor& tensor) {
    std::vector<std::int64_t> shape;
    for (const c10::SymInt& size : tensor.unsafeGetTensorImpl()->sym_sizes()) {
      shape.push_back(size.maybe_as_int().value_or(-1));
    }
    return shape;
  }

  // Of a subclass that answers by Python, and of one without strides, it is not asked.
  static std::string layout_of(const c10::TensorImpl& tensor) {
    if (tensor.layout() != c10::kStrided || tensor.is_python_dispatch()) return {};
    if (tensor.has_symbolic_sizes_strides()) return {};
    if (tensor.is_contiguous()) return "contiguous";
    const bool by_channels = tensor.is_contiguous(c10::MemoryFormat::ChannelsLast) ||
                             tensor.is_contiguous(c10::MemoryFormat::ChannelsLast3d);
    return by_channels ? "channels last" : "strided";
  }

  std::vector<StorageRow> rows_;
  std::unordered_map<std::uintptr_t, std::size_t> index_;
  std::unordered_map<const c10::StorageImpl*, std::int64_t> elements_;
};

}  // namespace

// By the type's bases alone: isinstance() asks an object for its __class__, which is user code.
bool is_tensor(PyObject* object) {
  return THPVariableClass != nullptr &&
         PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;
}

void for_each_tensor(const std::function<void(PyObject*, const at::Tensor&)>& visit) {
  for_each_tracked([&visit](PyObject* object) {
    if (!is_tensor(object)) return;
    const at::Tensor& tensor = THPVariable_Unpack(object);
    if (tensor.defined()) visit(object, tensor);
  });
}

std::vector<StorageRow> census() {
  Rows rows;
  for_each_tensor([&](PyObject* object, const at::Tensor& tensor) {
    rows.add(reinterpret_cast<std::uintptr_t>(object), tensor);
  });
  return rows.take();
}

std::size_t adopt_older(int cell) {
  std::size_t adopted = 0;
  for_each_tensor([&](PyObject*, const at::Tensor& tensor) {
    for (c10::StorageImpl* storage : storages_of(tensor)) {
      const auto facts = describe(*storage);
      if (!facts || facts->device != "cpu") continue;
      adopted += adopt(storage->_mutable_data_ptr_no_checks(), facts->bytes, cell) ? 1 : 0;
    }
  });
  return adopted;
}

}  // namespace xleak::libtorch
