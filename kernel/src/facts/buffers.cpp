#include "buffers.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "live_objects.hpp"
#include "reference.hpp"

namespace xleak::facts {
namespace {

// Strings, resources and variants (tensorflow/core/framework/types.proto).
constexpr long long kNoNumbers[] = {7, 20, 21};

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

class Collector {
 public:
  explicit Collector(TorchFacts& torch) : torch_(torch) {}

  void add(const Node& node) {
    if (node.kind == Kind::tensor) add_storage(node, torch_.storage_of(node.object));
    if (node.kind == Kind::storage) add_storage(node, torch_.describe(node.object));
    if (node.kind == Kind::arrow) add_shown(node, visit_arrow_buffers, "arrow");
    if (node.kind == Kind::polars) add_polars(node);
    if (node.kind == Kind::eager) add_shown(node, visit_eager_buffer, "tensorflow");
  }

  std::vector<Buffer> take() {
    for (auto& buffer : buffers_) {
      const auto users = users_.find(buffer.key);
      if (users != users_.end() && users->second > 0) buffer.doubt = Buffer::Doubt::tensors;
    }
    return std::move(buffers_);
  }

 private:
  Buffer& buffer(const Node& node, std::int64_t key) {
    const auto [found, is_new] = index_.emplace(key, buffers_.size());
    if (is_new) {
      buffers_.emplace_back();
      buffers_.back().key = key;
      buffers_.back().root = node.root;
    }
    Buffer& known = buffers_[found->second];
    known.held = known.held || node.held;
    return known;
  }

  void add_storage(const Node& node, const std::optional<StorageFacts>& storage) {
    // Meta and fake tensors have a size and no memory.
    if (!storage || storage->address == 0) return;
    Buffer& known = buffer(node, storage->key);
    known.address = storage->address;
    known.bytes = storage->bytes;
    known.owner = storage->device;
    if (storage->device == "cpu")
      known.owner = storage->foreign || !storage->in_malloc ? "unknown" : "malloc";
    known.held = known.held || (storage->named && node.kind == Kind::tensor);
    if (storage->foreign) {
      known.doubt = Buffer::Doubt::names;
    } else {
      users_.try_emplace(storage->key, storage->users).first->second -= 1;
    }
  }

  void add_shown(const Node& node, BufferVisitor visit, const char* owner) {
    visit(node.object, [&](std::int64_t address, std::int64_t bytes) {
      Buffer& known = buffer(node, address);
      known.address = address;
      known.bytes = bytes;
      known.owner = owner;
      known.doubt = Buffer::Doubt::names;
    });
  }

  void add_polars(const Node& node) {
    Buffer& known = buffer(node, reinterpret_cast<std::int64_t>(node.object));
    known.bytes =
        as_integer(call_descriptor(Py_TYPE(node.object), "estimated_size", node.object), 0);
    known.owner = "unknown";
    known.doubt = Buffer::Doubt::names;
  }

  TorchFacts& torch_;
  std::vector<Buffer> buffers_;
  std::unordered_map<std::int64_t, std::size_t> index_;
  std::unordered_map<std::int64_t, long> users_;
};

/// What tensors outside a closure say of the storages inside it.
class TensorWitness {
 public:
  explicit TensorWitness(TorchFacts& torch) : torch_(torch) {}

  void add(PyObject* tensor) {
    graphs_ = graphs_ || torch_.has_graph(tensor);
    if (const auto storage = torch_.storage_of(tensor)) storages_.insert(storage->key);
  }

  void testify(std::vector<Buffer>& buffers) const {
    for (Buffer& buffer : buffers) {
      if (buffer.doubt != Buffer::Doubt::tensors) continue;
      // A graph does not tell which storages it has saved.
      buffer.held = buffer.held || graphs_ || storages_.count(buffer.key) != 0;
    }
  }

 private:
  TorchFacts& torch_;
  bool graphs_ = false;
  std::unordered_set<std::int64_t> storages_;
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

void visit_eager_buffer(PyObject* tensor, const TakeBuffer& take) {
  auto* type = imported_type("tensorflow.python.framework.ops", "EagerTensor");
  if (type == nullptr || !PyType_IsSubtype(Py_TYPE(tensor), type)) return;
  if (as_integer(call_descriptor(type, "_num_elements", tensor), 0) < kLeastElements) return;
  const auto dtype = as_integer(call_descriptor(type, "_datatype_enum", tensor), kNoNumbers[0]);
  if (std::find(std::begin(kNoNumbers), std::end(kNoNumbers), dtype) != std::end(kNoNumbers))
    return;
  // Numbers of another device would be copied to be shown.
  const Reference device = read_descriptor(type, "backing_device", tensor);
  const char* name =
      device && PyUnicode_Check(device.get()) ? PyUnicode_AsUTF8(device.get()) : nullptr;
  if (name == nullptr) return PyErr_Clear();
  if (std::string_view(name).find(":CPU:") == std::string_view::npos) return;
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

bool in_doubt(const std::vector<Buffer>& buffers, Buffer::Doubt doubt) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : buffers) {
    if (buffer.doubt == doubt && !buffer.held) bytes += buffer.bytes;
  }
  return bytes >= kSmallBytes;
}

void ask_named_tensors(std::vector<Buffer>& buffers, const Pointers& named, KnownTypes& types,
                       TorchFacts& torch) {
  TensorWitness witness(torch);
  for (PyObject* object : named) {
    if (types.kind_of(Py_TYPE(object)) == Kind::tensor) witness.add(object);
  }
  witness.testify(buffers);
}

void ask_live_tensors(std::vector<Buffer>& buffers, const Closure& closure, KnownTypes& types,
                      TorchFacts& torch) {
  const Reference objects = tracked_objects();
  if (!objects) return;
  TensorWitness witness(torch);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects.get()); ++i) {
    PyObject* object = PyList_GET_ITEM(objects.get(), i);
    const bool tensor = types.kind_of(Py_TYPE(object)) == Kind::tensor;
    if (tensor && !closure.contains(object)) witness.add(object);
  }
  witness.testify(buffers);
}

void ask_names(std::vector<Buffer>& buffers, const Closure& names, TorchFacts& torch) {
  std::unordered_set<std::int64_t> shared;
  for (const Buffer& buffer : find_buffers(names, torch)) shared.insert(buffer.address);
  bool polars = false;
  std::vector<std::pair<std::int64_t, std::int64_t>> arrays;
  for (const Node& node : names.nodes()) {
    polars = polars || node.kind == Kind::polars;
    if (node.kind != Kind::ndarray) continue;
    const auto start =
        reinterpret_cast<std::int64_t>(reinterpret_cast<ArrayFields*>(node.object)->data);
    arrays.emplace_back(start, start + owned_array_bytes(node.object));
  }
  for (Buffer& buffer : buffers) {
    if (buffer.doubt != Buffer::Doubt::names) continue;
    // Polars does not say which frames share a buffer, so any named one may.
    if (buffer.address == 0) buffer.held = buffer.held || polars;
    if (buffer.address != 0) buffer.held = buffer.held || shared.count(buffer.address) != 0;
    for (const auto& [start, end] : arrays) {
      const bool of_array = buffer.address >= start && buffer.address < end;
      const bool shown = start >= buffer.address && start < buffer.address + buffer.bytes;
      buffer.held = buffer.held || of_array || shown;
    }
  }
}

}  // namespace xleak::facts
