// What a snapshot tells of memory by the cells that made it.
#include <algorithm>
#include <set>

#include "heap_snapshot.hpp"
#include "known_types.hpp"
#include "xleak/monitor/reach.hpp"

namespace xleak::facts {

void HeapSnapshot::note_memory(Node node) {
  auto* object = reinterpret_cast<PyObject*>(addresses_[node]);
  const std::uintptr_t start = start_of_memory(object, types_.kind_of(Py_TYPE(object)));
  if (start != addresses_[node]) starts_[node] = start;
}

/// Where the memory of a node begins, or lies at least.
std::uintptr_t HeapSnapshot::start_of(Node node) const {
  const auto known = starts_.find(node);
  if (known != starts_.end()) return known->second;
  return is_memory(node) ? addresses_[node] >> 1 : addresses_[node];
}

void HeapSnapshot::find_births(const std::vector<monitor::LargeBlock>& blocks) {
  constexpr std::int64_t kLeastBytes = 64 << 10;
  for (Node node = 1; !blocks.empty() && node < graph_.size(); ++node) {
    if (bytes_[node] < kLeastBytes) continue;
    const monitor::LargeBlock* block = monitor::block_with(blocks, start_of(node));
    if (block != nullptr && block->cell != 0 && block->kind != monitor::BlockKind::python_arena)
      pieces_[node] = {block->address, block->order, block->cell, block->site};
  }
}

template <typename Pieces>
std::vector<HeapSnapshot::Birth> HeapSnapshot::births_of(const Pieces& pieces) const {
  std::map<std::pair<std::uint32_t, monitor::SiteIndex>, std::int64_t> by_place;
  for (const Node node : pieces) {
    const Piece& piece = pieces_.at(node);
    by_place[{piece.cell, piece.site}] += bytes_[node];
  }
  std::vector<Birth> births;
  for (const auto& [place, bytes] : by_place) births.push_back({place.first, place.second, bytes});
  std::stable_sort(births.begin(), births.end(),
                   [](const Birth& a, const Birth& b) { return a.bytes > b.bytes; });
  return births;
}

std::vector<HeapSnapshot::Birth> HeapSnapshot::births(const std::string& label) const {
  const auto top = label_node(label);
  std::vector<Node> kept;
  for (const auto& [node, piece] : pieces_) {
    if (top && dominates(*top, node)) kept.push_back(node);
  }
  return births_of(kept);
}

std::vector<HeapSnapshot::Birth> HeapSnapshot::births(
    const std::vector<std::string>& labels) const {
  const monitor::Marks freed = freed_nodes(label_nodes(labels), {});
  std::vector<Node> kept;
  for (const auto& [node, piece] : pieces_) {
    if (freed[node]) kept.push_back(node);
  }
  return births_of(kept);
}

std::vector<HeapSnapshot::Birth> HeapSnapshot::births_outside() const {
  std::vector<Node> kept;
  for (const auto& [node, piece] : pieces_) {
    const bool is_alive = tree_.dominator[node] != monitor::kNoNode;
    if (is_alive && before_[node] == monitor::kNoNode) kept.push_back(node);
  }
  return births_of(kept);
}

std::vector<HeapSnapshot::Birth> HeapSnapshot::births_of_own(
    const std::vector<PyObject*>& objects) const {
  std::set<Node> own;
  for (PyObject* object : objects) {
    const Node node = index_.find(reinterpret_cast<std::uintptr_t>(object));
    if (node == monitor::kNoNode) continue;
    if (pieces_.count(node) != 0) own.insert(node);
    for (auto at = graph_.first[node]; at < graph_.first[node + 1]; ++at) {
      const Node part = graph_.targets[at];
      if (is_memory(part) && pieces_.count(part) != 0) own.insert(part);
    }
  }
  return births_of(own);
}

HeapSnapshot::Elements HeapSnapshot::elements(PyObject* container) const {
  const Node top = index_.find(reinterpret_cast<std::uintptr_t>(container));
  if (top == monitor::kNoNode) return {};
  std::vector<Node> kept;
  std::unordered_set<Node> elements;
  for (const auto& [piece, facts] : pieces_) {
    Node node = piece;
    while (node != monitor::kNoNode && tree_.dominator[node] != top) node = tree_.dominator[node];
    if (node == monitor::kNoNode) continue;
    kept.push_back(piece);
    elements.insert(node);
  }
  return {elements.size(), births_of(kept)};
}

std::vector<HeapSnapshot::Pile> HeapSnapshot::piles(std::int64_t least) const {
  // Of a chain that goes on and on, each link holds the next: no pile.
  constexpr int kDeepest = 64;
  monitor::Marks shared(graph_.size(), false);
  for (const Node node : common_) shared[node] = true;
  shared[outside_] = true;
  std::map<Node, std::map<Node, std::vector<Node>>> parts_of;
  for (const auto& [piece, facts] : pieces_) {
    Node part = piece;
    for (int depth = 0; depth < kDeepest; ++depth) {
      const Node owner = tree_.dominator[part];
      if (owner == monitor::kNoNode || owner <= labels_.size() || shared[owner]) break;
      parts_of[owner][part].push_back(piece);
      part = owner;
    }
  }
  std::vector<Pile> found;
  for (const auto& [owner, parts] : parts_of) {
    if (parts.size() < 2 || retained_[owner] < least || !is_near_a_name(owner)) continue;
    Pile pile;
    pile.way = describe(monitor::way_to(before_, 0, owner), &pile.way_there);
    if (pile.way.empty() || pile.way_there.empty()) continue;
    pile.object = pile.way_there.back();
    pile.way_there.pop_back();
    for (const auto& [part, its] : parts) {
      std::uint32_t order = UINT32_MAX;
      for (const Node piece : its) order = std::min(order, pieces_.at(piece).order);
      pile.parts.push_back({retained_[part], order, births_of(its)});
    }
    std::sort(pile.parts.begin(), pile.parts.end(),
              [](const Pile::Part& a, const Pile::Part& b) { return a.order < b.order; });
    found.push_back(std::move(pile));
  }
  return found;
}

std::vector<std::string> HeapSnapshot::names_leading_to(PyObject* object) const {
  const Node wanted = index_.find(reinterpret_cast<std::uintptr_t>(object));
  std::vector<std::string> names;
  if (wanted == monitor::kNoNode) return names;
  const monitor::Marks closed_nodes = closed();
  for (Node label = 1; label <= labels_.size(); ++label) {
    bool leads = false;
    each_reached({label}, closed_nodes, [&](Node node) {
      leads = leads || node == wanted;
      return !leads;
    });
    if (leads) names.push_back(labels_[label - 1]);
  }
  return names;
}

/// What leads everywhere, modules, namespaces and the classes of libraries, and the functions of
/// libraries: what those keep is no expression's.
monitor::Marks HeapSnapshot::closed() const {
  monitor::Marks closed(graph_.size(), false);
  for (const Node node : common_) closed[node] = true;
  for (const Node node : library_functions_) closed[node] = true;
  for (const Node node : own_types_) closed[node] = false;
  return closed;
}

std::vector<HeapSnapshot::Holding> HeapSnapshot::holdings_of(const std::vector<Node>& pieces,
                                                             Node last, std::int64_t least) const {
  monitor::Marks shared(graph_.size(), false);
  for (Node node = 0; node <= labels_.size(); ++node) shared[node] = true;
  for (const Node node : common_) shared[node] = true;
  // A registry that has the user's classes is what keeps them.
  for (const Node node : own_types_) shared[node] = false;
  shared[outside_] = true;
  monitor::Marks held_outside(graph_.size(), false);
  for (auto edge = graph_.first[outside_]; edge < graph_.first[outside_ + 1]; ++edge)
    held_outside[graph_.targets[edge]] = true;
  // The interpreter's own reference to a registry of its own is no use of what is in it.
  for (Node label = last_name_ + 1; label <= labels_.size(); ++label) {
    for (auto edge = graph_.first[label]; edge < graph_.first[label + 1]; ++edge)
      held_outside[graph_.targets[edge]] = false;
  }
  for (const Node frame : frames_) held_outside[frame] = true;
  std::vector<Holding> found;
  for (const auto& it : monitor::holdings({tree_, before_, retained_, shared}, pieces, last)) {
    if (it.bytes < least || held_outside[it.holder]) continue;
    found.push_back({it.holder, "", "", false, it.bytes, it.pieces.size(), births_of(it.pieces)});
  }
  return found;
}

std::vector<HeapSnapshot::Holding> HeapSnapshot::out_of_reach(
    const std::vector<std::string>& in_use, const std::vector<std::string>& hooks, bool goes_on,
    std::int64_t least) const {
  std::vector<Node> starts = label_nodes(in_use);
  monitor::Marks is_hook(graph_.size(), false);
  for (const Node label : label_nodes(hooks)) is_hook[label] = true;
  for (Node label = 1; label <= last_name_; ++label) {
    if (!is_hook[label]) starts.push_back(label);
  }
  if (goes_on) starts.insert(starts.end(), coroutines_.begin(), coroutines_.end());
  monitor::Marks reached(graph_.size(), false);
  if (!pieces_.empty()) {
    each_reached(starts, closed(), [&](Node node) {
      reached[node] = true;
      return true;
    });
  }
  std::vector<Node> lost;
  for (const auto& [node, piece] : pieces_) {
    if (!reached[node]) lost.push_back(node);
  }
  return holdings_of(lost, monitor::kNoNode, least);
}

std::vector<HeapSnapshot::Holding> HeapSnapshot::holdings(const std::vector<std::uintptr_t>& blocks,
                                                          std::uintptr_t last,
                                                          std::int64_t least) const {
  std::vector<Node> wanted;
  for (const auto& [node, piece] : pieces_) {
    if (std::find(blocks.begin(), blocks.end(), piece.address) != blocks.end())
      wanted.push_back(node);
  }
  return holdings_of(wanted, index_.find(last), least);
}

void HeapSnapshot::describe_ways(std::vector<Holding>& found) const {
  std::vector<Holding> described;
  for (Holding& it : found) {
    std::vector<PyObject*> passed;
    it.way = describe(monitor::way_to(before_, 0, it.holder), &passed);
    if (it.way.empty()) continue;
    if (!passed.empty()) it.type_name = Py_TYPE(passed.back())->tp_name;
    it.by_users_code = std::any_of(passed.begin(), passed.end(), is_of_users_code);
    described.push_back(std::move(it));
  }
  found = std::move(described);
}

std::vector<HeapSnapshot::HeldBlock> HeapSnapshot::blocks(
    const std::vector<std::string>& labels) const {
  std::map<Node, HeldBlock> found;
  if (pieces_.empty()) return {};
  const monitor::Marks closed_nodes = closed();
  for (const std::string& label : labels) {
    const auto node = label_node(label);
    if (!node) continue;
    const auto note = [&](Node reached) {
      const auto piece = pieces_.find(reached);
      if (piece == pieces_.end()) return;
      HeldBlock& block = found[reached];
      if (block.labels.empty()) {
        block.address = piece->second.address;
        block.order = piece->second.order;
        block.bytes = bytes_[reached];
        block.births = births_of(std::vector<Node>{reached});
      }
      if (block.labels.empty() || block.labels.back() != label) block.labels.push_back(label);
    };
    each_reached({*node}, closed_nodes, [&](Node reached) {
      note(reached);
      if (saved_.count(addresses_[reached]) == 0) return true;
      // A loss leads to the weights of its model, which are not meant where it is deleted.
      const auto own = storages_.find(reached);
      if (own != storages_.end()) note(own->second);
      return false;
    });
  }
  monitor::Marks passed(graph_.size(), false);
  for (Node label = 0; label <= labels_.size(); ++label) passed[label] = true;
  for (const Node node : open_containers_) passed[node] = true;
  std::vector<Node> shown;
  monitor::Marks is_data(graph_.size(), false);
  for (const Node node : data_) is_data[node] = true;
  each_reached(label_nodes(labels), closed_nodes, [&](Node node) {
    const auto block = found.find(node);
    if (block != found.end()) block->second.is_open = true;
    if (is_data[node]) shown.push_back(node);
    return static_cast<bool>(passed[node]);
  });
  each_reached(shown, closed_nodes, [&](Node node) {
    const auto block = found.find(node);
    if (block != found.end()) block->second.is_open = true;
    return true;
  });
  std::vector<HeldBlock> result;
  for (auto& [node, block] : found) result.push_back(std::move(block));
  return result;
}

std::vector<std::pair<std::uintptr_t, std::uint32_t>> HeapSnapshot::blocks_behind(
    std::uintptr_t object) const {
  std::vector<std::pair<std::uintptr_t, std::uint32_t>> found;
  const Node start = index_.find(object);
  if (start == monitor::kNoNode || pieces_.empty()) return found;
  each_reached({start}, closed(), [&](Node node) {
    const auto piece = pieces_.find(node);
    if (piece != pieces_.end()) found.emplace_back(piece->second.address, piece->second.order);
    return true;
  });
  return found;
}

}  // namespace xleak::facts
