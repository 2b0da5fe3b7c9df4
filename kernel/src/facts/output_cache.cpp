#include "output_cache.hpp"

#include <algorithm>

namespace xleak::facts {
namespace {

// An entry with more objects is looked at alone, and only when something moved.
constexpr std::size_t kDearNodes = 20'000;
// Unsettled entries are looked at after every cell where that takes no longer, else when a name
// moved.
constexpr std::chrono::microseconds kCheapLook{200};

}  // namespace

bool OutputCache::examine(const CacheView& view, const Limits& limits) {
  const std::uint64_t now = fingerprint(view);
  if (now == fingerprint_ && !unsettled_) return true;
  std::map<int, PyObject*> known;
  for (const auto& [number, state] : states_) known.emplace_hint(known.end(), number, state.object);
  slots_ = read_slots(view, known);
  const auto start = Clock::now();
  const bool finished = examine_changed(view, now != fingerprint_, limits);
  fingerprint_ = finished ? now : 0;
  unsettled_ = unsettled_ && Clock::now() - start <= kCheapLook;
  slots_ = {};
  return finished;
}

bool OutputCache::examine_changed(const CacheView& view, bool bindings_moved,
                                  const Limits& limits) {
  KnownTypes types;
  for (auto it = states_.begin(); it != states_.end();) {
    it = slots_.entries.count(it->first) == 0 ? states_.erase(it) : std::next(it);
  }
  std::vector<int> together;
  std::vector<int> alone;
  for (const auto& [number, object] : slots_.entries) {
    if (!needs_look(number, object, bindings_moved, types)) continue;
    (states_[number].dear ? alone : together).push_back(number);
  }
  const auto slow = [this](int number) { return states_[number].slow; };
  unsettled_ = false;
  if (!examine_group(together, view, types, limits)) return false;
  for (const auto& [number, state] : states_) {
    const bool pending = state.dear && !state.examined;
    if (pending && std::find(alone.begin(), alone.end(), number) == alone.end())
      alone.push_back(number);
  }
  std::stable_partition(alone.begin(), alone.end(), [&](int number) { return !slow(number); });
  return std::all_of(alone.begin(), alone.end(), [&](int number) {
    // What did not fit into a cell's time before is left for the idle time from the start.
    if (limits.deadline && slow(number)) return false;
    return examine_group({number}, view, types, limits);
  });
}

bool OutputCache::needs_look(int number, PyObject* object, bool bindings_moved, KnownTypes& types) {
  State& state = states_[number];
  const long outside = static_cast<long>(Py_REFCNT(object)) - slots_.references[object];
  if (state.object != object) {
    state = {};
    state.object = object;
    state.facts.number = number;
    state.facts.type_name = Py_TYPE(object)->tp_name;
  }
  if (state.outside != outside) state.examined = false;
  state.outside = outside;
  if (total(state.facts.held) >= kSmallBytes) state.facts.holders = slots_.labels_of(object);
  if (settle_quickly(object, state, types)) return false;
  if (!state.examined) return true;
  return !state.facts.settled && (!state.dear || bindings_moved);
}

bool OutputCache::settle_quickly(PyObject* object, State& state, KnownTypes& types) const {
  const Kind kind = types.kind_of(Py_TYPE(object));
  const bool named = slots_.named.count(object) != 0;
  PythonBytes own;
  const bool leaf = Py_TYPE(object)->tp_traverse == nullptr && kind <= Kind::sized;
  if (leaf) types.add_own_bytes(object, kind, own);
  const bool small = leaf && own.total() < kSmallBytes;
  if (!named && !small && kind != Kind::barrier) return false;
  state.examined = true;
  state.facts.held.clear();
  state.facts.settled = true;
  return true;
}

OutputCache::Growth OutputCache::grow(Closure& closure, const std::vector<int>& group) {
  for (const int number : group) {
    State& state = states_[number];
    const std::size_t before = closure.nodes().size();
    const bool complete = closure.add_root(state.object, static_cast<std::uint32_t>(number));
    state.dear = state.dear || !complete || closure.nodes().size() - before > kDearNodes;
    if (!complete) {
      state.slow = state.slow || group.size() == 1;
      return Growth::limit_reached;
    }
    if (state.dear && group.size() > 1) return Growth::too_large;
  }
  return Growth::done;
}

bool OutputCache::examine_rest(std::vector<int> group, const CacheView& view, KnownTypes& types,
                               const Limits& limits) {
  const auto dear = [this](int number) { return states_[number].dear; };
  group.erase(std::remove_if(group.begin(), group.end(), dear), group.end());
  return examine_group(std::move(group), view, types, limits);
}

bool OutputCache::examine_group(std::vector<int> group, const CacheView& view, KnownTypes& types,
                                const Limits& limits) {
  if (group.empty()) return true;
  TorchFacts torch;
  std::optional<Closure> closure(std::in_place, types, torch, view.barriers, limits);
  // A closure has a reference to all that it reached, which would count in the next one.
  const auto examine_the_rest = [&] {
    closure.reset();
    return examine_rest(std::move(group), view, types, limits);
  };
  const Growth growth = grow(*closure, group);
  if (growth == Growth::limit_reached) return false;
  if (growth == Growth::too_large) return examine_the_rest();
  closure->mark_held(slots_.references);
  std::vector<Buffer> buffers = find_buffers(*closure, torch);
  if (in_doubt(buffers, Buffer::Doubt::tensors)) {
    ask_named_tensors(buffers, slots_.named, types, torch);
  }
  if (in_doubt(buffers, Buffer::Doubt::tensors)) {
    if (group.size() > 1) {
      // To ask all live tensors costs milliseconds: once for each such entry, not after every cell.
      for (const Buffer& buffer : buffers) {
        const bool open = buffer.doubt == Buffer::Doubt::tensors && !buffer.held;
        if (open) states_[static_cast<int>(buffer.root)].dear = true;
      }
      return examine_the_rest();
    }
    ask_live_tensors(buffers, *closure, types, torch);
    states_[group.front()].dear = true;
  }
  if (in_doubt(buffers, Buffer::Doubt::names)) {
    Closure names(types, torch, view.barriers, limits);
    for (PyObject* named : slots_.named) {
      if (!names.add_root(named, 0)) return false;
    }
    ask_names(buffers, names, torch);
  }
  account(*closure, group, buffers, types);
  return true;
}

void OutputCache::account(const Closure& closure, const std::vector<int>& group,
                          const std::vector<Buffer>& buffers, KnownTypes& types) {
  struct Sum {
    PythonBytes held;
    PythonBytes all;
    std::int64_t buffer_bytes = 0;
    bool may_grow = false;  // It reaches something of the user's, which may become more.
  };
  std::map<int, Sum> sums;
  for (const int number : group) states_[number].facts.held.clear();
  for (const Node& node : closure.nodes()) {
    Sum& sum = sums[static_cast<int>(node.root)];
    PythonBytes own = node.leaves;
    types.add_own_bytes(node.object, node.kind, own);
    sum.all.add(own);
    if (node.held) {
      sum.may_grow = sum.may_grow || Py_TYPE(node.object)->tp_traverse != nullptr;
      continue;
    }
    sum.held.add(own);
  }
  for (const Buffer& buffer : buffers) {
    sums[static_cast<int>(buffer.root)].buffer_bytes += buffer.bytes;
    if (!buffer.held)
      add(states_[static_cast<int>(buffer.root)].facts.held, buffer.owner, buffer.bytes);
  }
  for (const int number : group) {
    State& state = states_[number];
    const Sum& sum = sums[number];
    add(state.facts.held, sum.held);
    state.facts.total_bytes = sum.all.total() + sum.buffer_bytes;
    state.examined = true;
    const bool large = total(state.facts.held) >= kSmallBytes;
    state.facts.holders = large ? slots_.labels_of(state.object) : std::vector<std::string>{};
    const auto root = static_cast<std::uint32_t>(number);
    const bool alone = !sum.may_grow && !closure.shares(root);
    const auto reached = state.facts.total_bytes + closure.shared_leaf_bytes(root);
    const bool small = alone && reached < kSmallBytes;
    const bool all_held_here = total(state.facts.held) >= state.facts.total_bytes / 100 * 99;
    state.facts.settled = small || (state.dear && all_held_here);
    unsettled_ = unsettled_ || !state.facts.settled;
  }
}

std::vector<OutputFacts> OutputCache::entries() const {
  std::vector<OutputFacts> entries;
  for (const auto& [number, state] : states_) {
    if (state.examined && total(state.facts.held) >= kSmallBytes) entries.push_back(state.facts);
  }
  return entries;
}

PyObject* OutputCache::identity_of(int number) const {
  const auto found = states_.find(number);
  return found == states_.end() ? nullptr : found->second.object;
}

}  // namespace xleak::facts
