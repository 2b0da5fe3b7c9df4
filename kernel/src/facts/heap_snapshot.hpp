#pragma once
#include <Python.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "address_index.hpp"
#include "closure.hpp"
#include "known_types.hpp"
#include "reference.hpp"
#include "torch_facts.hpp"
#include "xleak/monitor/graph.hpp"

namespace xleak::facts {

/// An entry of a dictionary that users know by a name of its own. Entries with one label are one
/// holder to them, such as `Out[2]` and `_2`.
struct NamedSlot {
  Reference dict;
  Reference key;  ///< The very object that the dictionary has as its key.
  std::string label;
};

/// An object that lives by itself, such as a frame of a thread.
struct NamedRoot {
  std::string label;
  Reference object;
};

/// Memory that the autograd graph of a tensor has saved.
struct SavedMemory {
  std::uintptr_t tensor;  ///< Address of the Python object.
  std::int64_t key;       ///< Address of torch's StorageImpl.
  std::int64_t bytes;
  std::string device;
  std::vector<std::uintptr_t> shown_by;  ///< Addresses of the Python objects that have it.
};

/// The whole heap as a graph: everything the garbage collector tracks and what that reaches, and
/// the memory behind tensors, arrays and Arrow buffers. Runs no code of the objects. Holds no
/// reference to them once it was read: an address is followed again only where a live object still
/// refers to it.
class HeapSnapshot {
 public:
  HeapSnapshot(std::vector<NamedSlot> slots, std::vector<NamedRoot> roots,
               std::vector<SavedMemory> saved);
  HeapSnapshot(const HeapSnapshot&) = delete;
  HeapSnapshot& operator=(const HeapSnapshot&) = delete;

  /// Reads the heap. Needs the GIL throughout. False: a limit was reached.
  bool read(const Limits& limits);
  /// Finds who keeps what. Needs no GIL. False: it was stopped.
  bool analyse(const monitor::Stop& stop);

  std::size_t object_count() const { return addresses_.size(); }
  std::size_t reference_count() const { return graph_.targets.size(); }

  /// By label: what would be freed with it, and what its value itself takes.
  std::int64_t retained_bytes(const std::string& label) const;
  std::int64_t own_bytes(const std::string& label) const;
  /// What of the retained bytes is tensors' own, by device.
  std::map<std::string, std::int64_t> retained_by_device(const std::string& label) const;
  /// All that the label leads to, shared or not, but through modules, types and namespaces. Empty
  /// where it was stopped.
  std::optional<std::int64_t> reachable_bytes(const std::string& label,
                                              const monitor::Stop& stop) const;

  /// How else the value of a label is reached: expressions such as `Out[2]` or `cache['a'][0]`,
  /// nearest first, at most `most`. Needs the GIL.
  std::vector<std::string> other_ways(const std::string& label, std::size_t most) const;
  /// The same of an object, and through none of the labels `without`.
  std::vector<std::string> ways_besides(PyObject* object, const std::vector<std::string>& without,
                                        std::size_t most) const;
  /// How large parts of what an object leads to are reached through none of `without`: one way for
  /// each holder, the largest part first. Needs the GIL.
  std::vector<std::string> ways_to_parts(PyObject* object, const std::vector<std::string>& without,
                                         std::size_t most) const;
  /// A shortest way to an object, in the words of its user; empty where there is none. Needs the
  /// GIL.
  std::string way_to(PyObject* object) const;
  /// What would be freed with an object; 0 where it was not there.
  std::int64_t retained_bytes(PyObject* object) const;
  /// What the graph of one tensor has saved and nothing else keeps.
  struct GraphBytes {
    std::string way;
    std::int64_t kept = 0;
    std::int64_t own = 0;  ///< The tensor's own memory.
  };
  /// Tensors whose graphs keep at least so much. Needs the GIL.
  std::vector<GraphBytes> graphs(std::int64_t least) const;
  /// Whether `object` would go with `holder`.
  bool keeps(PyObject* holder, PyObject* object) const;
  /// The largest objects that only `label` keeps: the way to each and its own bytes. Needs the GIL.
  std::vector<std::pair<std::string, std::int64_t>> largest(const std::string& label,
                                                            std::size_t most) const;

 private:
  using Node = monitor::GraphNode;

  static int visit(PyObject* target, void* self);
  void reserve(std::size_t tracked);
  bool step();
  Node add_node(std::uintptr_t address, std::int64_t bytes);
  void let_go();
  Node node_of(PyObject* object);
  void add_edge(Node target, std::uint32_t references);
  void add_reference(PyObject* target);
  void read_roots();
  bool read_rows(const Reference& tracked);
  void read_object(PyObject* object);
  void read_entries(PyObject* dict);
  void read_hidden(PyObject* object, Kind kind);
  void find_saved_tensors(const Reference& tracked);
  void add_saved(PyObject* tensor);
  Node add_storage(const std::optional<StorageFacts>& storage, std::uint32_t references);
  void read_outside();
  bool held_outside(Node node);
  std::optional<Node> label_node(const std::string& label) const;
  std::optional<Node> value_node(const std::string& label) const;
  std::vector<Node> label_nodes(const std::vector<std::string>& labels) const;
  std::vector<std::string> ways_besides(Node value, const std::vector<std::string>& without,
                                        std::size_t most) const;
  std::int64_t own_bytes(Node node, const std::vector<bool>* among) const;
  bool dominates(Node holder, Node node) const;
  bool below_dominator(Node node, const std::vector<bool>& below) const;
  std::vector<Node> own_memory(Node node) const;
  bool is_memory(Node node) const { return (addresses_[node] & 1) != 0; }
  bool refers(Node from, Node to) const;
  bool refers_to_any(Node from, const std::vector<bool>& wanted) const;
  PyObject* live_value(Node label, Node node) const;
  std::string describe(const std::vector<Node>& way) const;

  std::vector<NamedSlot> slots_;
  std::vector<NamedRoot> roots_;
  std::vector<std::string> labels_;  ///< Of the nodes 1, 2, …; node 0 is the root of all.
  std::unordered_map<std::string, Node> label_nodes_;
  std::unordered_map<PyObject*, std::unordered_map<PyObject*, Node>> named_entries_;
  std::unordered_multimap<std::uintptr_t, SavedMemory> saved_;
  /// Tensors whose memory a graph has saved: C++ owns them too.
  std::unordered_set<std::uintptr_t> saved_tensors_;

  KnownTypes types_;
  std::optional<TorchFacts> torch_;
  std::vector<std::uintptr_t> addresses_;  ///< By node; 0 for the root, labels and the outside.
  AddressIndex index_{addresses_};
  monitor::Graph graph_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::uint32_t> references_;  ///< By node: those that the graph accounts for.
  std::unordered_map<Node, long> storage_users_;
  std::unordered_map<Node, Node> storages_;        ///< By tensor, beside what its graph has saved.
  std::unordered_map<Node, std::string> devices_;  ///< Of the storages of tensors.
  std::vector<Node> common_;  ///< Modules, types and namespaces, which lead to everything.
  Node outside_ = monitor::kNoNode;

  const Limits* limits_ = nullptr;
  PythonBytes leaves_;  ///< Small objects that only the one being read refers to.
  std::size_t steps_ = 0;
  bool failed_ = false;

  monitor::DominatorTree tree_;
  std::vector<std::int64_t> retained_;
  std::vector<Node> before_;
};

}  // namespace xleak::facts
