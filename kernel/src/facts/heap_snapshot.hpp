#pragma once
#include <Python.h>

#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "address_index.hpp"
#include "closure.hpp"
#include "known_types.hpp"
#include "limits.hpp"
#include "live_objects.hpp"
#include "reference.hpp"
#include "torch_facts.hpp"
#include "xleak/monitor/graph.hpp"
#include "xleak/monitor/large_blocks.hpp"
#include "xleak/monitor/page_memory.hpp"

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
  std::uintptr_t start;   ///< Where the memory begins.
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
  /// Address and order of birth of a block, which no other block has.
  using BlockKey = std::pair<std::uintptr_t, std::uint32_t>;

  HeapSnapshot(monitor::LargeVector<NamedSlot> slots, std::vector<NamedRoot> roots,
               std::vector<SavedMemory> saved);
  HeapSnapshot(const HeapSnapshot&) = delete;
  HeapSnapshot& operator=(const HeapSnapshot&) = delete;

  /// Reads the heap. Needs the GIL throughout. False: a limit was reached.
  bool read(const Limits& limits);
  /// Finds who keeps what. Needs no GIL. False: it was stopped.
  bool analyse(const monitor::Stop& stop);
  /// Notes which memory of 64 KiB and more a cell made. `blocks`: all that are alive, by address.
  /// Needs no GIL.
  void find_births(const std::vector<monitor::LargeBlock>& blocks);

  std::size_t object_count() const { return addresses_.size(); }
  std::size_t reference_count() const { return graph_.targets.size(); }

  /// By label: what would be freed with it, and what its value itself takes.
  std::int64_t retained_bytes(const std::string& label) const;
  std::int64_t own_bytes(const std::string& label) const;
  /// What of the retained bytes is tensors' own, by device.
  std::map<std::string, std::int64_t> retained_by_device(const std::string& label) const;
  /// All that the label leads to, shared or not, but through modules, types and namespaces. Empty
  /// where that takes more than `most` references.
  std::optional<std::int64_t> reachable_bytes(const std::string& label, std::size_t most) const;

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
  /// Whether a label leads to an object; not so where native code alone, or nothing, does.
  bool is_reached(PyObject* object) const;
  /// Those tensors that native code and other tensors alone refer to, as graphs do.
  std::vector<PyObject*> only_in_graphs(const std::vector<PyObject*>& tensors) const;
  /// What would be freed with an object; 0 where it was not there.
  std::int64_t retained_bytes(PyObject* object) const;
  /// What the graph of one tensor has saved.
  struct GraphBytes {
    std::uintptr_t tensor = 0;  ///< Address of the Python object.
    std::string way;
    std::int64_t kept = 0;
    std::int64_t own = 0;                           ///< The tensor's own memory.
    std::map<std::int64_t, std::int64_t> storages;  ///< What was counted: by key, their bytes.
  };
  /// Tensors whose graphs keep at least so much, which nothing else keeps unless it is `shared`;
  /// `together`: also those of which a container has so many that they do. Needs the GIL.
  std::vector<GraphBytes> graphs(std::int64_t least, bool shared, bool together) const;
  /// A view that shows a part of the memory behind it. Where it is a part of a table or a series,
  /// `object` and `way` are those of the whole, which may have several.
  struct PinnedView {
    std::uintptr_t object = 0;
    std::string way;
    std::int64_t shown = 0;
    std::int64_t behind = 0;
    std::uintptr_t memory = 0;  ///< The same for all views of one memory.
  };
  /// Tensors without gradients, whose copies keep no graph, arrays, memoryviews and Arrow objects
  /// that show at most a `fraction`th of at least so much, which nothing else shows. Needs the GIL.
  std::vector<PinnedView> pinned_views(std::int64_t least, std::int64_t fraction) const;
  /// What stands in the place of a value that was replaced: a detached tensor has the memory of the
  /// old one, a copy has its own, which is not counted.
  enum class Replacement { detached, copied };
  /// Where: a shortest way leads to it, or any name or container has it.
  enum class Where { first, everywhere };
  /// What would be freed if each object were replaced.
  std::int64_t freed_by_replacing(const std::vector<std::uintptr_t>& objects, Replacement by,
                                  Where where = Where::first);
  /// What of some memory behind views would be freed if copies took the place of these objects.
  std::int64_t freed_behind(const std::vector<std::uintptr_t>& objects,
                            const std::vector<std::uintptr_t>& memory);
  /// A reference from one object to another.
  using Link = std::pair<PyObject*, PyObject*>;
  /// What would be freed once some labels and some references are gone, by owner.
  Bytes freed_by(const std::vector<std::string>& labels, const std::vector<Link>& links) const;
  /// Whether some of that would wait for the collector.
  bool would_wait(const std::vector<std::string>& labels, const std::vector<Link>& links) const;
  /// What waits for the collector now, by owner, but for what `without` leads to.
  Bytes waiting(const std::vector<PyObject*>& without) const;
  /// What one of several labels keeps that would go together.
  struct Share {
    std::size_t label;              ///< By their order.
    Bytes kept;                     ///< What none of the labels before it leads to.
    std::vector<std::size_t> with;  ///< The other labels that lead to much of it, by their order.
  };
  /// What would be freed if all of the labels and `others` were gone, of each label whose share is
  /// at least so many bytes.
  std::vector<Share> shares(const monitor::LargeVector<std::string>& labels,
                            const std::vector<std::string>& others, std::int64_t least) const;
  /// What would be freed if nothing referred to the objects any more.
  std::int64_t freed_without(const std::vector<PyObject*>& objects) const;
  /// How many objects and labels refer to an object, and native code as one.
  std::size_t holders_of(PyObject* object) const;
  /// A built-in container, or an instance of a class of one, that a name leads to.
  struct Container {
    PyObject* object = nullptr;
    std::string way;
    std::int64_t kept = 0;             ///< What would be freed with it.
    std::vector<PyObject*> way_there;  ///< From the value of the name on, itself not included.
  };
  /// Those near a name that keep at least so much, most first, at most `most`. Borrowed references.
  /// Needs the GIL.
  std::vector<Container> containers(std::int64_t least, std::size_t most) const;
  /// Whether `object` would go with `holder`.
  bool keeps(PyObject* holder, PyObject* object) const;
  /// Those of the objects that nothing but the labels keeps.
  std::vector<PyObject*> kept_by(const std::vector<std::string>& labels,
                                 const std::vector<PyObject*>& objects) const;
  /// Those of `wanted` that some objects lead to, or are, but through modules, types and
  /// namespaces.
  std::vector<PyObject*> led_to(const std::vector<PyObject*>& starts,
                                const std::vector<PyObject*>& wanted) const;
  /// Those of the objects, which are alive, that nothing leads to but other garbage.
  std::vector<PyObject*> garbage(const std::vector<PyObject*>& objects) const;
  /// Garbage that waits for the collector.
  struct Waiting {
    std::vector<PyObject*> suspects;  ///< Those in its cycle.
    std::int64_t bytes = 0;
  };
  /// The cycles of garbage that would not be there without the suspects, which are alive. What one
  /// cycle leads to is counted with the first that does.
  std::vector<Waiting> garbage_cycles(const std::vector<PyObject*>& suspects) const;
  /// A way that ends where it began.
  struct Circle {
    std::string text;                ///< Its steps.
    std::vector<PyObject*> objects;  ///< Those that it leads to.
  };
  /// The shortest way from an object of the garbage, which is alive, back to itself; empty where
  /// there is none. Needs the GIL.
  Circle way_around(PyObject* object) const;
  /// How much a cell made at one place.
  struct Birth {
    std::uint32_t cell = 0;
    monitor::SiteIndex site = 0;
    std::int64_t bytes = 0;
  };
  /// Where that was made which would be freed with a label, in pieces of 64 KiB and more; most
  /// bytes first.
  std::vector<Birth> births(const std::string& label) const;
  /// The same of several labels, if all were gone.
  std::vector<Birth> births(const std::vector<std::string>& labels) const;
  /// Of the memory of objects themselves, whoever else has it.
  std::vector<Birth> births_of_own(const std::vector<PyObject*>& objects) const;
  /// Of what native code or a running function alone keeps.
  std::vector<Birth> births_outside() const;
  /// What a container alone keeps of what cells made.
  struct Elements {
    std::size_t count = 0;  ///< Those with such memory.
    std::vector<Birth> births;
  };
  Elements elements(PyObject* container) const;
  /// What one object alone keeps, in parts of which each has memory that cells made.
  struct Pile {
    struct Part {
      std::int64_t bytes = 0;   ///< What would be freed with it.
      std::uint32_t order = 0;  ///< Of its first birth.
      std::vector<Birth> births;
    };
    PyObject* object = nullptr;
    std::string way;
    std::vector<PyObject*> way_there;  ///< From the value of the name on, itself not included.
    std::vector<Part> parts;           ///< As they were made.
  };
  /// Those near a name with two parts and more and at least so many bytes. Borrowed references.
  /// Needs the GIL.
  std::vector<Pile> piles(std::int64_t least) const;
  /// The labels that lead to an object, but through modules and namespaces. Needs no GIL.
  std::vector<std::string> names_leading_to(PyObject* object) const;
  /// Pieces of memory under what keeps them.
  struct Holding {
    monitor::GraphNode holder = 0;
    std::string way;        ///< To the holder; from `describe_ways` on.
    std::string type_name;  ///< Of the holder, likewise.
    bool by_users_code =
        false;               ///< Whether the way goes through a function or object of the user's.
    std::int64_t bytes = 0;  ///< What would be freed if it let go of them.
    std::size_t count = 0;   ///< Pieces.
    std::vector<Birth> births;
  };
  /// What cells made and no label of a slot leads to, but perhaps one of the `hooks`, by what keeps
  /// at least so much, most bytes first. Not what the labels `in_use` lead to either, nor a
  /// coroutine of the user's where it `goes_on`, nor what a running function or native code has.
  /// Needs no GIL.
  std::vector<Holding> out_of_reach(const std::vector<std::string>& in_use,
                                    const std::vector<std::string>& hooks, bool goes_on,
                                    std::int64_t least) const;
  /// The same of the blocks with these addresses; the way to them ends at the `last` object, where
  /// it leads there. Needs no GIL.
  std::vector<Holding> holdings(const std::vector<std::uintptr_t>& blocks, std::uintptr_t last,
                                std::int64_t least) const;
  /// Names the holders; those to which the way has changed since go. Needs the GIL.
  void describe_ways(std::vector<Holding>& found) const;
  /// A block of 64 KiB and more that a cell made, and the labels that lead to it.
  struct HeldBlock {
    std::uintptr_t address = 0;
    std::uint32_t order = 0;  ///< Of its birth: no other block has both.
    std::int64_t bytes = 0;
    /// Whether containers alone lead from a label to it, or to the array or table that has it.
    bool is_open = false;
    std::vector<std::string> labels;
    std::vector<Birth> births;
  };
  /// All that some labels lead to, but through modules, namespaces and autograd graphs. Needs no
  /// GIL.
  std::vector<HeldBlock> blocks(const std::vector<std::string>& labels) const;
  /// Address and order of those that the object at an address leads to, likewise.
  std::vector<std::pair<std::uintptr_t, std::uint32_t>> blocks_behind(std::uintptr_t object) const;
  /// What some owners have of the host's memory, by its allocator.
  struct Owned {
    std::int64_t pooled = 0;  ///< Of CPython's pools.
    std::int64_t small = 0;   ///< Of malloc, in blocks that the ledger does not know.
    std::int64_t large = 0;   ///< In the ledger's blocks: what of them is in memory.
  };
  struct Account {
    std::vector<Owned> groups;
    Owned rest;  ///< What else is in the graph, but for its large blocks.
    /// What of the ledger's blocks is in memory; cell 0 for what no cell made.
    std::vector<std::vector<Birth>> of_groups;  ///< By group.
    std::vector<Birth> unnamed;                 ///< In the graph, and no group's.
    std::vector<Birth> unseen;                  ///< That no object shows.
    std::int64_t pools = 0;  ///< In maps of libraries' own pools, beside what objects have there.
  };
  /// Whose the memory of the process is: by group of labels, what they lead to and none before
  /// them, but through modules, types and namespaces. `blocks`: all that are alive, by address.
  /// Needs no GIL.
  Account account(const std::vector<std::vector<std::string>>& groups,
                  const std::vector<monitor::LargeBlock>& blocks) const;
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
  bool read_rows(const TrackedObjects& tracked);
  void read_object(PyObject* object);
  void read_entries(PyObject* dict);
  void read_hidden(PyObject* object, Kind kind);
  void find_saved_tensors(const TrackedObjects& tracked);
  void add_saved(PyObject* tensor);
  PyObject* base_of(PyObject* object);
  void note_view(PyObject* view, std::int64_t shown);
  void note_arrow_view(PyObject* object, std::uint64_t first_edge);
  void add_map(PyObject* object);
  void add_polars(PyObject* frame);
  void fill_late_edges();
  void drop_open_edges();
  void join(const std::vector<Node>& memory);
  void keep_doubtful(monitor::Marks& left) const;
  void join_borrowed();
  monitor::Marks left_after(const std::vector<Node>& labels, const std::vector<Link>& links) const;
  monitor::Marks freed_nodes(const std::vector<Node>& labels, const std::vector<Link>& links) const;
  Bytes bytes_of(const monitor::Marks& nodes) const;
  void add_bytes(Bytes& bytes, Node node) const;
  template <typename Visit>
  void each_freed_below(Node label, const monitor::Marks& freed, Visit visit) const;
  Node add_storage(const std::optional<StorageFacts>& storage, std::uint32_t references);
  struct Edge {
    Node from;
    Node to;
  };
  void find_native_memory();
  std::vector<Node> owners_of(const BlockKey& block, const std::vector<Node>& leading) const;
  std::vector<Node> native_objects();
  std::vector<monitor::LargeBlock> without_owner(
      const std::vector<monitor::LargeBlock>& blocks) const;
  void find_hidden_references(Node node, std::size_t bytes, std::vector<Edge>& edges);
  void insert(const std::vector<Edge>& edges);
  void read_outside();
  bool held_outside(Node node);
  std::optional<Node> label_node(const std::string& label) const;
  std::optional<Node> value_node(const std::string& label) const;
  std::vector<Node> label_nodes(const std::vector<std::string>& labels) const;
  std::vector<Node> nodes_of(const std::vector<PyObject*>& objects) const;
  std::vector<std::string> ways_besides(Node value, const std::vector<std::string>& without,
                                        std::size_t most) const;
  std::int64_t own_bytes(Node node, const monitor::Marks* among) const;
  bool dominates(Node holder, Node node) const;
  std::optional<Node> garbage_node(PyObject* object) const;
  std::vector<Node> no_link() const;
  bool below_dominator(Node node, const monitor::Marks& below) const;
  std::vector<Node> own_memory(Node node) const;
  bool is_memory(Node node) const { return (addresses_[node] & 1) != 0; }
  bool is_near_a_name(Node node) const;
  bool refers(Node from, Node to) const;
  bool refers_to_any(Node from, const monitor::Marks& wanted) const;
  PyObject* live_value(Node label, Node node) const;
  std::string describe(const std::vector<Node>& way,
                       std::vector<PyObject*>* passed = nullptr) const;
  void note_memory(Node node);
  std::uintptr_t start_of(Node node) const;
  template <typename Pieces>
  std::vector<Birth> births_of(const Pieces& pieces) const;
  std::vector<Holding> holdings_of(const std::vector<Node>& pieces, Node last,
                                   std::int64_t least) const;
  monitor::Marks closed() const;
  template <typename Visit>
  void each_reached(std::vector<Node> starts, monitor::Marks closed, Visit visit) const;
  /// The same; what was reached is closed afterwards.
  template <typename Visit>
  void close_reached(std::vector<Node> starts, monitor::Marks& closed, Visit visit) const;

  monitor::PageMemory memory_;
  monitor::LargeVector<NamedSlot> slots_;
  std::vector<NamedRoot> roots_;
  monitor::LargeVector<std::string> labels_;  ///< Of the nodes 1, 2, …; node 0 is the root of all.
  std::pmr::unordered_map<std::string, Node> label_nodes_{memory_.get()};
  Node last_name_ = 0;  ///< The labels of slots come first.
  std::pmr::unordered_map<PyObject*, std::pmr::unordered_map<PyObject*, Node>> named_entries_{
      memory_.get()};
  std::pmr::unordered_multimap<std::uintptr_t, SavedMemory> saved_{memory_.get()};
  /// Tensors whose memory a graph has saved: C++ owns them too.
  std::pmr::unordered_set<std::uintptr_t> saved_tensors_{memory_.get()};

  KnownTypes types_{memory_.get()};
  std::optional<TorchFacts> torch_;
  monitor::LargeVector<std::uintptr_t>
      addresses_;  ///< By node; 0 for the root, labels and the outside.
  AddressIndex index_{addresses_};
  monitor::Graph graph_;
  monitor::LargeVector<std::int64_t> bytes_;
  monitor::LargeVector<std::uint32_t> pooled_;  ///< By node: what CPython's own pools have of it.
  std::pmr::unordered_map<Node, std::string> owners_{
      memory_.get()};  ///< The allocators of memory; malloc's left out.
  monitor::LargeVector<std::uint32_t> references_;  ///< By node: those that the graph accounts for.
  std::pmr::unordered_map<Node, long> storage_users_{memory_.get()};
  std::pmr::unordered_map<Node, Node> storages_{
      memory_.get()};  ///< By tensor, beside what its graph has saved.
  std::pmr::unordered_map<Node, std::string> devices_{
      memory_.get()};  ///< Of the storages of tensors.
  /// Memory whose row has one edge that is known only once all is read: by node its place.
  std::pmr::unordered_map<Node, std::uint64_t> late_{memory_.get()};
  std::vector<Node> polars_;
  struct Eager {
    Node memory;
    bool is_variable;
    std::uintptr_t start;
  };
  std::vector<Eager> eager_;  ///< TensorFlow's memory.
  struct Borrowed {
    std::uint64_t edge;  ///< Of the array, known only once all is read.
    std::uintptr_t address;
  };
  monitor::LargeVector<Borrowed> borrowed_;  ///< Arrays over memory that no array has.
  struct Range {
    Node array;
    std::uintptr_t start;
    std::int64_t bytes;
  };
  monitor::LargeVector<Range> arrays_;  ///< Those with memory of their own.
  std::pmr::unordered_map<Node, std::uintptr_t> foreign_{
      memory_.get()};  ///< Storages of memory that is not torch's.
  struct View {
    Node node;
    std::uintptr_t behind;  ///< Address of the array or the storage that has the memory.
    std::int64_t shown;
  };
  monitor::LargeVector<View> views_;
  std::unordered_map<Node, Node> containers_of_tensors() const;
  std::int64_t behind(const View& view, std::int64_t fraction) const;
  monitor::Marks held_otherwise(const std::vector<View>& views) const;
  std::optional<PinnedView> pinned_by(const View& view, std::int64_t bytes,
                                      const monitor::Marks& is_data) const;
  monitor::Marks left_after_replacing(const std::vector<std::uintptr_t>& objects, Replacement by,
                                      Where where);
  std::vector<Node> nodes_at(const std::vector<std::uintptr_t>& addresses) const;
  monitor::LargeVector<Node> containers_;
  std::vector<Node> common_;  ///< Modules, types and namespaces, which lead to everything.
  monitor::LargeVector<Node> library_functions_;
  std::vector<Node> own_types_;  ///< Those of the common ones that are classes of the user's.
  /// By node where its memory begins, if not at the object itself.
  std::pmr::unordered_map<Node, std::uintptr_t> starts_{memory_.get()};
  monitor::LargeVector<Node> open_containers_;  ///< Those that show all that they refer to.
  monitor::LargeVector<Node> data_;             ///< Arrays, tensors and tables.
  std::vector<Node> coroutines_;                ///< Of the user's: code that goes on later.
  struct Piece {
    std::uintptr_t address;
    std::uint32_t order;
    std::uint32_t cell;
    monitor::SiteIndex site;
  };
  std::map<Node, Piece> pieces_;  ///< What cells made, in pieces of 64 KiB and more.
  std::vector<Node> frames_;
  Node outside_ = monitor::kNoNode;

  const Limits* limits_ = nullptr;
  PythonBytes leaves_;  ///< Small objects that only the one being read refers to.
  std::size_t steps_ = 0;
  bool failed_ = false;
  bool knows_blocks_ = false;  ///< The large blocks of malloc, by the ledger.

  monitor::DominatorTree tree_;
  monitor::LargeVector<std::int64_t> retained_;
  monitor::LargeVector<Node> before_;
};

/// `visit` gets each node that the starts lead to, themselves included; false: not through it.
template <typename Visit>
void HeapSnapshot::close_reached(std::vector<Node> starts, monitor::Marks& closed,
                                 Visit visit) const {
  monitor::LargeVector<Node> pending(starts.begin(), starts.end());
  for (const Node node : pending) closed[node] = true;
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    if (!visit(node)) continue;
    for (auto edge = graph_.first[node]; edge < graph_.first[node + 1]; ++edge) {
      const Node target = graph_.targets[edge];
      if (closed[target]) continue;
      closed[target] = true;
      pending.push_back(target);
    }
  }
}

template <typename Visit>
void HeapSnapshot::each_reached(std::vector<Node> starts, monitor::Marks closed,
                                Visit visit) const {
  close_reached(std::move(starts), closed, std::move(visit));
}

}  // namespace xleak::facts
