#include "buffers.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "reference.hpp"

namespace xleak::facts {
namespace {

// What TensorFlow numbers its types by (tensorflow/core/framework/types.proto).
constexpr long long kResource = 20;
// Strings, resources and variants.
constexpr long long kNoNumbers[] = {7, kResource, 21};
// Bytes of one number, by type; 0 where it has no fixed size.
constexpr std::int64_t kItemBytes[] = {0, 4, 8, 4, 1, 2, 1,  0, 8, 8, 1, 1,
                                       1, 4, 2, 2, 2, 2, 16, 2, 0, 0, 4, 8};

// Fewer are not worth the questions.
constexpr long long kLeastElements = 1024;

Reference read_arrow(const char* type_name, const char* name, PyObject* object) {
  auto* type = imported_type("pyarrow.lib", type_name);
  if (type == nullptr || !PyType_IsSubtype(Py_TYPE(object), type)) return {};
  return read_descriptor(type, name, object);
}

Reference call_arrow(const char* type_name, const char* name, PyObject* object) {
  auto* type = imported_type("pyarrow.lib", type_name);
  if (type == nullptr || !PyType_IsSubtype(Py_TYPE(object), type)) return {};
  return call_descriptor(type, name, object);
}

/// The chunks of a column, the buffers of a chunk, the columns of a table.
std::vector<Reference> arrow_parts(PyObject* object) {
  std::vector<Reference> parts;
  parts.push_back(read_arrow("ChunkedArray", "chunks", object));
  parts.push_back(call_arrow("Array", "buffers", object));
  for (const char* table : {"Table", "RecordBatch"}) {
    auto* type = imported_type("pyarrow.lib", table);
    if (type == nullptr || Py_TYPE(object) != type) continue;
    parts.push_back(Reference::steal(PyObject_GetAttrString(object, "columns")));
    if (!parts.back()) PyErr_Clear();
  }
  return parts;
}

Reference attribute(const Reference& object, const char* name) {
  if (!object || object.get() == Py_None) return {};
  PyObject* value = PyObject_GetAttrString(object.get(), name);
  if (value == nullptr) PyErr_Clear();
  return Reference::steal(value);
}

Reference item(const Reference& sequence, Py_ssize_t index) {
  PyObject* value = PySequence_GetItem(sequence.get(), index);
  if (value == nullptr) PyErr_Clear();
  return Reference::steal(value);
}

Py_ssize_t length(const Reference& sequence) {
  const Py_ssize_t count = sequence ? PySequence_Size(sequence.get()) : 0;
  if (count < 0) PyErr_Clear();
  return std::max<Py_ssize_t>(count, 0);
}

/// What the variable behind a handle takes, by the shape and the type that TensorFlow noted on the
/// handle; 0 where it does not know them.
std::int64_t variable_bytes(PyTypeObject* type, PyObject* handle) {
  const Reference parts =
      attribute(read_descriptor(type, "_handle_data", handle), "shape_and_type");
  if (length(parts) != 1) return 0;
  const Reference part = item(parts, 0);
  const Reference shape = attribute(part, "shape");
  const auto dtype = as_integer(attribute(part, "dtype"), 0);
  const bool known = dtype > 0 && dtype < static_cast<long long>(std::size(kItemBytes));
  if (!known || attribute(shape, "unknown_rank").get() != Py_False) return 0;
  std::int64_t count = 1;
  const Reference extents = attribute(shape, "dim");
  for (Py_ssize_t i = 0; i < length(extents); ++i)
    count *= std::max(0LL, as_integer(attribute(item(extents, i), "size"), 0));
  return count < kLeastElements ? 0 : count * kItemBytes[dtype];
}

bool is_on_host(PyTypeObject* type, const char* name, PyObject* tensor) {
  const Reference device = read_descriptor(type, name, tensor);
  const char* text =
      device && PyUnicode_Check(device.get()) ? PyUnicode_AsUTF8(device.get()) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return text != nullptr && std::string_view(text).find(":CPU:") != std::string_view::npos;
}

class Collector {
 public:
  explicit Collector(TorchFacts& torch) : torch_(torch) {}

  void add(const Node& node) {
    if (node.kind == Kind::tensor) add_storage(torch_.storage_of(node.object));
    if (node.kind == Kind::storage) add_storage(torch_.describe(node.object));
    if (node.kind == Kind::arrow) add_shown(node, visit_arrow_buffers);
    if (node.kind == Kind::polars) buffer(address_of(node)).bytes = polars_bytes(node.object);
    if (node.kind == Kind::eager) add_shown(node, visit_eager_buffer);
  }

  std::vector<Buffer> take() { return std::move(buffers_); }

 private:
  static std::int64_t address_of(const Node& node) {
    return reinterpret_cast<std::int64_t>(node.object);
  }

  Buffer& buffer(std::int64_t key) {
    const auto [found, is_new] = index_.emplace(key, buffers_.size());
    if (is_new) buffers_.push_back({key, 0, 0});
    return buffers_[found->second];
  }

  void add_storage(const std::optional<StorageFacts>& storage) {
    // Meta and fake tensors have a size and no memory.
    if (!storage || storage->address == 0) return;
    Buffer& known = buffer(storage->key);
    known.address = storage->address;
    known.bytes = storage->bytes;
  }

  void add_shown(const Node& node, BufferVisitor visit) {
    visit(node.object, [&](std::int64_t address, std::int64_t bytes) {
      Buffer& known = buffer(address);
      // That of a variable's handle says nothing of where its numbers are.
      known.address = address == address_of(node) ? 0 : address;
      known.bytes = bytes;
    });
  }

  TorchFacts& torch_;
  std::vector<Buffer> buffers_;
  std::unordered_map<std::int64_t, std::size_t> index_;
};

}  // namespace

void visit_arrow_buffers(PyObject* object, const TakeBuffer& take) {
  const auto address = as_integer(read_arrow("Buffer", "address", object), 0);
  if (address != 0) take(address, as_integer(read_arrow("Buffer", "size", object), 0));
  for (const Reference& list : arrow_parts(object)) {
    if (!list || !PyList_Check(list.get())) continue;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
      PyObject* item = PyList_GET_ITEM(list.get(), i);
      if (item != Py_None) visit_arrow_buffers(item, take);
    }
  }
}

std::int64_t arrow_shown_bytes(PyObject* object) {
  for (const char* type : {"Table", "RecordBatch", "ChunkedArray", "Array"}) {
    const Reference shown = read_arrow(type, "nbytes", object);
    if (shown) return as_integer(shown, INT64_MAX);
  }
  return INT64_MAX;
}

std::int64_t polars_bytes(PyObject* frame) {
  return as_integer(call_descriptor(Py_TYPE(frame), "estimated_size", frame), 0);
}

void visit_eager_buffer(PyObject* tensor, const TakeBuffer& take) {
  auto* type = imported_type("tensorflow.python.framework.ops", "EagerTensor");
  if (type == nullptr || !PyType_IsSubtype(Py_TYPE(tensor), type)) return;
  const auto elements = as_integer(call_descriptor(type, "_num_elements", tensor), 0);
  if (elements != 1 && elements < kLeastElements) return;
  const auto dtype = as_integer(call_descriptor(type, "_datatype_enum", tensor), kNoNumbers[0]);
  if (dtype == kResource && is_on_host(type, "device", tensor)) {
    const std::int64_t bytes = variable_bytes(type, tensor);
    if (bytes > 0) take(reinterpret_cast<std::int64_t>(tensor), bytes);
  }
  if (elements < kLeastElements ||
      std::find(std::begin(kNoNumbers), std::end(kNoNumbers), dtype) != std::end(kNoNumbers))
    return;
  // Numbers of another device would be copied to be shown.
  if (!is_on_host(type, "backing_device", tensor)) return;
  const Reference shown = call_descriptor(type, "_numpy_internal", tensor);
  auto* array_type = imported_type("numpy", "ndarray");
  if (!shown || array_type == nullptr || !PyObject_TypeCheck(shown.get(), array_type)) return;
  const auto* fields = reinterpret_cast<ArrayFields*>(shown.get());
  if (fields->owns_data()) return;
  take(reinterpret_cast<std::int64_t>(fields->data), shown_bytes(shown.get()));
}

std::vector<Buffer> find_buffers(const Closure& closure, TorchFacts& torch) {
  Collector collector(torch);
  for (const Node& node : closure.nodes()) collector.add(node);
  return collector.take();
}

}  // namespace xleak::facts
