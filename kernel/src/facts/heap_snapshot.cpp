#include "heap_snapshot.hpp"

#include <algorithm>

#include "buffers.hpp"
#include "live_objects.hpp"

namespace xleak::facts {
namespace {

// The limits are asked this often: some 50 microseconds of work.
constexpr std::size_t kStepsBetweenLooks = 256;
constexpr std::size_t kObjectsBetweenLooks = 256;
// What a shared number or text of this size takes does not show in anybody's sum.
constexpr std::int64_t kSmallLeafBytes = 512;
// The keys of fewer take too little to be asked for.
constexpr Py_ssize_t kManyKeys = 512;
// A view of less pins nothing worth asking each tensor for its size.
constexpr std::int64_t kLeastBehindView = 64 << 10;
// The ledger knows no smaller blocks.
constexpr std::int64_t kLeastPieceBytes = 64 << 10;

bool is_object(std::uintptr_t address) { return address != 0 && (address & 1) == 0; }

PyObject* object_at(std::uintptr_t address) { return reinterpret_cast<PyObject*>(address); }

/// Of a dictionary's keys that it alone has: its tp_traverse leaves them out where all are text.
PythonBytes key_bytes(PyObject* dict) {
  PythonBytes bytes;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  while (PyDict_Next(dict, &position, &key, nullptr)) {
    if (!PyUnicode_CheckExact(key)) return {};
    if (Py_REFCNT(key) == 1) bytes.add_block(text_bytes(key));
  }
  return bytes;
}

bool is_leaf(PyObject* object, Kind kind) {
  if (Py_TYPE(object)->tp_traverse != nullptr) return false;
  return kind == Kind::plain || kind == Kind::text || kind == Kind::sized;
}

}  // namespace

HeapSnapshot::HeapSnapshot(monitor::LargeVector<NamedSlot> slots, std::vector<NamedRoot> roots,
                           std::vector<SavedMemory> saved)
    : slots_(std::move(slots)), roots_(std::move(roots)) {
  const auto label = [this](const std::string& text) {
    const auto next = static_cast<Node>(labels_.size() + 1);
    const auto [found, is_new] = label_nodes_.emplace(text, next);
    if (is_new) labels_.push_back(text);
    return found->second;
  };
  for (const NamedSlot& slot : slots_) {
    named_entries_[slot.dict.get()][slot.key.get()] = label(slot.label);
  }
  last_name_ = static_cast<Node>(labels_.size());
  for (const NamedRoot& root : roots_) label(root.label);
  for (SavedMemory& memory : saved) saved_.emplace(memory.tensor, std::move(memory));
}

bool HeapSnapshot::read(const Limits& limits) {
  limits_ = &limits;
  knows_blocks_ = monitor::ledger_state().installed;
  const TrackedObjects tracked;
  if (!tracked) return false;
  reserve(static_cast<std::size_t>(tracked.size()));
  find_saved_tensors(tracked);
  torch_.emplace();
  bool complete = false;
  try {
    read_roots();
    complete = read_rows(tracked);
    if (complete) fill_late_edges();
    if (complete && knows_blocks_) find_native_memory();
    if (complete) read_outside();
  } catch (...) {
    // Out of memory.
    complete = false;
  }
  torch_.reset();
  limits_ = nullptr;
  let_go();
  return complete && !failed_;
}

void HeapSnapshot::reserve(std::size_t tracked) {
  // Arrays and long texts are not tracked; there are fewer of them.
  const std::size_t count = tracked + tracked / 2;
  addresses_.reserve(count);
  bytes_.reserve(count);
  pooled_.reserve(count);
  references_.reserve(count);
  graph_.first.reserve(count);
  graph_.targets.reserve(2 * count);
  index_.reserve(count);
}

// Taken within tp_traverse, where no other thread may change what is being traversed.
bool HeapSnapshot::step() {
  if (++steps_ % kStepsBetweenLooks == 0 && limits_->late()) failed_ = true;
  return failed_;
}

HeapSnapshot::Node HeapSnapshot::add_node(std::uintptr_t address, std::int64_t bytes) {
  const auto node = static_cast<Node>(addresses_.size());
  addresses_.push_back(address);
  // Between two objects other threads may run.
  if (is_object(address)) Py_INCREF(object_at(address));
  bytes_.push_back(bytes);
  pooled_.push_back(0);
  references_.push_back(is_object(address) ? 1 : 0);
  if (address != 0) index_.add(node);
  return node;
}

void HeapSnapshot::let_go() {
  for (const std::uintptr_t address : addresses_) {
    if (is_object(address)) Py_DECREF(object_at(address));
  }
}

HeapSnapshot::Node HeapSnapshot::node_of(PyObject* object) {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  const Node known = index_.find(address);
  return known != monitor::kNoNode ? known : add_node(address, 0);
}

void HeapSnapshot::add_edge(Node target, std::uint32_t references) {
  graph_.targets.push_back(target);
  references_[target] += references;
}

// --- the rows ----------------------------------------------------------------------------------

// The root of all leads to the labels, and to what is held outside, whose number is not known yet.
void HeapSnapshot::read_roots() {
  for (std::size_t node = 0; node <= labels_.size(); ++node) add_node(0, 0);
  for (Node label = 1; label <= labels_.size(); ++label) graph_.targets.push_back(label);
  graph_.targets.push_back(monitor::kNoNode);
  graph_.end_row();
  monitor::LargeVector<std::vector<std::pair<PyObject*, bool>>> values(labels_.size() + 1);
  // In their order, each dictionary once. A lookup would ask the keys for their hashes.
  std::unordered_set<PyObject*> done;
  for (const NamedSlot& slot : slots_) {
    if (!done.insert(slot.dict.get()).second) continue;
    const auto& named = named_entries_.at(slot.dict.get());
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(slot.dict.get(), &position, &key, &value)) {
      const auto label = named.find(key);
      if (label != named.end()) values[label->second].emplace_back(value, true);
    }
  }
  for (const NamedRoot& root : roots_)
    values[label_nodes_[root.label]].emplace_back(root.object.get(), false);
  for (Node label = 1; label <= labels_.size(); ++label) {
    for (const auto& [value, is_entry] : values[label]) add_edge(node_of(value), is_entry ? 1 : 0);
    graph_.end_row();
  }
}

bool HeapSnapshot::read_rows(const TrackedObjects& tracked) {
  const auto read_new = [this] {
    for (auto node = static_cast<std::size_t>(graph_.size()); node < addresses_.size(); ++node) {
      leaves_ = {};
      if (is_object(addresses_[node])) {
        read_object(object_at(addresses_[node]));
        bytes_[node] = leaves_.total();
        if (bytes_[node] >= kLeastPieceBytes) note_memory(static_cast<Node>(node));
        pooled_[node] =
            static_cast<std::uint32_t>(std::min<std::int64_t>(leaves_.pymalloc_bytes, UINT32_MAX));
      } else if (const auto late = late_.find(static_cast<Node>(node)); late != late_.end()) {
        late->second = graph_.targets.size();
        graph_.targets.push_back(monitor::kNoNode);
      }
      graph_.end_row();
      if (node % kObjectsBetweenLooks == 0 && limits_->reached()) return false;
      if (failed_) return false;
    }
    return true;
  };
  // What is reached first, so that what lies on the way to it is counted from its users.
  if (!read_new()) return false;
  for (Py_ssize_t i = 0; i < tracked.size(); ++i) {
    // `tracked` refers to each of them too.
    references_[node_of(tracked[i])] += 1;
  }
  return read_new();
}

void HeapSnapshot::read_object(PyObject* object) {
  const Kind kind = types_.kind_of(Py_TYPE(object));
  types_.add_own_bytes(object, kind, leaves_);
  const bool named = kind == Kind::dict && named_entries_.count(object) != 0;
  const bool of_module = kind == Kind::dict && is_module_dict(object);
  if (kind == Kind::barrier || named || of_module) common_.push_back(graph_.size());
  if (kind == Kind::barrier && is_users_class(object)) own_types_.push_back(graph_.size());
  if (is_librarys_function(object)) library_functions_.push_back(graph_.size());
  if (kind >= Kind::table) data_.push_back(graph_.size());
  if (is_users_coroutine(object)) coroutines_.push_back(graph_.size());
  const bool is_open = !named && !of_module && is_container(object, kind);
  if (is_open) open_containers_.push_back(graph_.size());
  const bool collection = kind == Kind::list || kind == Kind::dict || kind == Kind::sized;
  if (collection && !named && !of_module) containers_.push_back(graph_.size());
  if (kind == Kind::frame) frames_.push_back(graph_.size());
  if (named) {
    read_entries(object);
  } else if (Py_TYPE(object)->tp_traverse != nullptr && PyObject_IS_GC(object)) {
    Py_TYPE(object)->tp_traverse(object, visit, this);
  }
  if (kind == Kind::dict && PyDict_GET_SIZE(object) >= kManyKeys) leaves_.add(key_bytes(object));
  if (kind >= Kind::ndarray) read_hidden(object, kind);
}

int HeapSnapshot::visit(PyObject* target, void* self) {
  auto* snapshot = static_cast<HeapSnapshot*>(self);
  // The caller is C code, which an exception must not cross.
  try {
    snapshot->add_reference(target);
    return snapshot->step() ? -1 : 0;
  } catch (...) {
    snapshot->failed_ = true;
    return -1;
  }
}

void HeapSnapshot::add_reference(PyObject* target) {
  if (target == nullptr || target == Py_None || !is_in_use(target)) return;
  if (Py_TYPE(target)->tp_traverse == nullptr) {
    const Kind kind = types_.kind_of(Py_TYPE(target));
    // What an extension module has in it is asked for once all is read.
    const bool is_asked = knows_blocks_ && types_.native_bytes(Py_TYPE(target)) > sizeof(PyObject);
    if (!is_asked && is_leaf(target, kind)) {
      PythonBytes own;
      types_.add_own_bytes(target, kind, own);
      // A large one has a way to it that is worth telling.
      const bool large = own.total() > kSmallLeafBytes;
      if (!large && Py_REFCNT(target) == 1) leaves_.add(own);
      if (!large) return;
    }
  }
  add_edge(node_of(target), 1);
}

// An entry with a name is reached by the node of its name.
void HeapSnapshot::read_entries(PyObject* dict) {
  const auto& named = named_entries_.at(dict);
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &position, &key, &value)) {
    if (!PyUnicode_CheckExact(key)) add_reference(key);
    const auto label = named.find(key);
    label == named.end() ? add_reference(value) : add_edge(label->second, 0);
  }
}

void HeapSnapshot::read_hidden(PyObject* object, Kind kind) {
  if (kind == Kind::ndarray) {
    const auto* array = reinterpret_cast<ArrayFields*>(object);
    add_reference(array->base);
    if (array->base != nullptr) note_view(object, shown_bytes(object));
    if (array->base != nullptr && types_.kind_of(Py_TYPE(array->base)) != Kind::ndarray) {
      borrowed_.push_back({graph_.targets.size(), reinterpret_cast<std::uintptr_t>(array->data)});
      graph_.targets.push_back(monitor::kNoNode);
    }
    if (const auto own = owned_array_bytes(object); own > 0)
      arrays_.push_back({graph_.size(), reinterpret_cast<std::uintptr_t>(array->data), own});
    if (!array->owns_data() || !array->holds_objects()) return;
    auto** items = reinterpret_cast<PyObject**>(array->data);
    for (std::int64_t i = 0, count = array->item_count(); i < count && !step(); ++i)
      add_reference(items[i]);
  } else if (kind == Kind::tensor) {
    // References that tp_traverse does not show, since C++ has them.
    add_reference(torch_->base_of(object).get());
    add_reference(torch_->gradient_of(object).get());
    const Node storage = add_storage(torch_->storage_of(object), 1);
    if (storage != monitor::kNoNode) {
      storages_[node_of(object)] = storage;
      const bool large = bytes_[storage] >= kLeastBehindView;
      if (large && !torch_->requires_gradient(object))
        views_.push_back({node_of(object), addresses_[storage], torch_->shown_bytes(object)});
    }
    add_saved(object);
  } else if (kind == Kind::storage) {
    add_storage(torch_->describe(object), 0);
  } else if (kind == Kind::arrow || kind == Kind::eager) {
    const auto visit_buffers = kind == Kind::arrow ? visit_arrow_buffers : visit_eager_buffer;
    const char* owner = kind == Kind::arrow ? "arrow" : "tensorflow";
    const auto first_edge = graph_.targets.size();
    visit_buffers(object, [&](std::int64_t address, std::int64_t bytes) {
      const auto key = memory_address(address);
      Node node = index_.find(key);
      if (node == monitor::kNoNode) {
        owners_[node = add_node(key, bytes)] = owner;
        if (kind == Kind::eager) {
          const bool is_variable = address == reinterpret_cast<std::int64_t>(object);
          eager_.push_back({node, is_variable, static_cast<std::uintptr_t>(address)});
        }
      }
      add_edge(node, 1);
    });
    if (kind == Kind::arrow) note_arrow_view(object, first_edge);
  } else if (kind == Kind::window) {
    note_view(object, PyMemoryView_GET_BUFFER(object)->len);
  } else if (kind == Kind::map) {
    add_map(object);
  } else if (kind == Kind::polars) {
    add_polars(object);
  }
}

/// What an array or a memoryview was made over; null for what has its own memory.
PyObject* HeapSnapshot::base_of(PyObject* object) {
  const Kind kind = types_.kind_of(Py_TYPE(object));
  if (kind == Kind::ndarray) return reinterpret_cast<ArrayFields*>(object)->base;
  return kind == Kind::window ? PyMemoryView_GET_BASE(object) : nullptr;
}

void HeapSnapshot::note_view(PyObject* view, std::int64_t shown) {
  PyObject* owner = view;
  while (PyObject* base = base_of(owner)) owner = base;
  if (owner != view)
    views_.push_back({node_of(view), reinterpret_cast<std::uintptr_t>(owner), shown});
}

/// What of an Arrow object's buffers it shows, by their sizes: a slice has the buffers of the
/// whole.
void HeapSnapshot::note_arrow_view(PyObject* object, std::uint64_t first_edge) {
  std::int64_t behind = 0;
  for (auto edge = first_edge; edge < graph_.targets.size(); ++edge)
    behind += bytes_[graph_.targets[edge]];
  if (behind < kLeastBehindView) return;
  const double share = static_cast<double>(arrow_shown_bytes(object)) / static_cast<double>(behind);
  const Node node = node_of(object);
  for (auto edge = first_edge; edge < graph_.targets.size(); ++edge) {
    const Node memory = graph_.targets[edge];
    const auto shown = static_cast<std::int64_t>(share * static_cast<double>(bytes_[memory]));
    if (bytes_[memory] >= kLeastBehindView) views_.push_back({node, addresses_[memory], shown});
  }
}

// A map of a file has nothing that would not be read again.
void HeapSnapshot::add_map(PyObject* object) {
  const MapFields& map = *reinterpret_cast<MapFields*>(object);
  if (map.data == nullptr || map.file >= 0) return;
  const auto start = reinterpret_cast<std::uintptr_t>(map.data);
  const auto bytes = monitor::resident_bytes(start, map.size).value_or(map.size);
  const Node node = add_node(memory_address(static_cast<std::int64_t>(start)), bytes);
  owners_[node] = "unknown";
  add_edge(node, 1);
}

// Whose graph has saved a storage is known now, so that its further users are no mystery.
void HeapSnapshot::add_saved(PyObject* tensor) {
  const auto [first, last] = saved_.equal_range(reinterpret_cast<std::uintptr_t>(tensor));
  for (auto at = first; at != last; ++at) {
    const auto key = memory_address(at->second.key);
    Node node = index_.find(key);
    if (node == monitor::kNoNode) {
      node = add_node(key, at->second.bytes);
      devices_[node] = at->second.device;
      if (at->second.device != "cpu") owners_[node] = at->second.device;
      if (at->second.bytes >= kLeastPieceBytes) starts_[node] = at->second.start;
    }
    storage_users_[node] = 0;
    add_edge(node, 0);
    for (const std::uintptr_t shown_by : at->second.shown_by) {
      const bool other = shown_by != reinterpret_cast<std::uintptr_t>(tensor);
      if (other && saved_tensors_.count(shown_by) != 0) add_edge(node_of(object_at(shown_by)), 0);
    }
  }
}

// Only those that are still alive: the collector lists them.
void HeapSnapshot::find_saved_tensors(const TrackedObjects& tracked) {
  std::unordered_set<std::uintptr_t> wanted;
  for (const auto& [tensor, memory] : saved_)
    wanted.insert(memory.shown_by.begin(), memory.shown_by.end());
  for (Py_ssize_t i = 0; !wanted.empty() && i < tracked.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(tracked[i]);
    if (wanted.count(address) != 0) saved_tensors_.insert(address);
  }
}

HeapSnapshot::Node HeapSnapshot::add_storage(const std::optional<StorageFacts>& storage,
                                             std::uint32_t references) {
  if (!storage || storage->address == 0) return monitor::kNoNode;
  const auto key = memory_address(storage->key);
  Node node = index_.find(key);
  if (node == monitor::kNoNode) {
    node = add_node(key, storage->bytes);
    storage_users_[node] = storage->users;
    devices_[node] = storage->device;
    if (storage->bytes >= kLeastPieceBytes)
      starts_[node] = static_cast<std::uintptr_t>(storage->address);
    if (storage->device != "cpu") {
      owners_[node] = storage->device;
    } else if (storage->foreign || !storage->in_malloc) {
      owners_[node] = "unknown";
    }
    if (storage->foreign) {
      foreign_[node] = static_cast<std::uintptr_t>(storage->address);
      late_[node] = 0;
    }
  }
  add_edge(node, references);
  return node;
}

// --- what else holds them ------------------------------------------------------------------------

// An object with more references than the graph knows is held by what it does not show: native
// code, C++ tensors, locals of a running function.
void HeapSnapshot::read_outside() {
  for (const NamedSlot& slot : slots_) {
    for (PyObject* own : {slot.dict.get(), slot.key.get()}) {
      const Node node = index_.find(reinterpret_cast<std::uintptr_t>(own));
      if (node != monitor::kNoNode) references_[node] += 1;
    }
  }
  const auto count = static_cast<Node>(addresses_.size());
  for (Node node = 0; node < count; ++node) {
    if (held_outside(node)) graph_.targets.push_back(node);
  }
  outside_ = add_node(0, 0);
  graph_.end_row();
  graph_.targets[labels_.size()] = outside_;
  references_ = {};
  storage_users_ = {};
}

bool HeapSnapshot::held_outside(Node node) {
  const auto users = storage_users_.find(node);
  if (users != storage_users_.end()) return users->second > references_[node];
  if (!is_object(addresses_[node])) return false;
  PyObject* object = object_at(addresses_[node]);
  auto held = static_cast<long>(Py_REFCNT(object)) - static_cast<long>(references_[node]);
  const Kind kind = types_.kind_of(Py_TYPE(object));
  const bool saved = saved_tensors_.count(addresses_[node]) != 0;
  // Of a saved one the graph is the owner in C++; all such owners together have one reference.
  if (kind == Kind::tensor) held += saved ? -1 : torch_->references_from_cpp(object);
  // The memory of a tensor keeps its Python object, once somebody asked for it.
  if (kind == Kind::storage) held -= 1;
  return held > 0;
}

bool HeapSnapshot::analyse(const monitor::Stop& stop) {
  auto tree = monitor::dominators(graph_, 0, stop);
  if (!tree) return false;
  auto before = monitor::shortest_ways(graph_, 0, {outside_}, stop);
  if (!before) return false;
  tree_ = std::move(*tree);
  before_ = std::move(*before);
  retained_ = monitor::retained_bytes(tree_, bytes_);
  return true;
}

}  // namespace xleak::facts
