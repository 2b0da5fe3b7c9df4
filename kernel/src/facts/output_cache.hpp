#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "buffers.hpp"
#include "bytes.hpp"
#include "cache_slots.hpp"

namespace xleak::facts {

/// What is known of one entry of the output cache.
struct OutputFacts {
  int number = 0;
  Bytes held;  ///< Kept alive by the shell's caches and by nothing else, by owner.
  std::int64_t total_bytes = 0;  ///< All that it reaches.
  std::string type_name;
  std::vector<std::string> holders;  ///< "Out[2]", "_2", "the display hook", …
  bool settled = false;              ///< Stays so until the references to it move.
};

/// Follows the output cache from cell to cell. Keeps no reference to anything in it.
class OutputCache {
 public:
  /// Looks again at what may have changed. False: a limit was reached; call it again to go on.
  bool examine(const CacheView& view, const Limits& limits);
  /// The entries that keep more than kSmallBytes.
  std::vector<OutputFacts> entries() const;
  /// The address of an entry's value, also where it lives on outside Out; never to be dereferenced.
  PyObject* identity_of(int number) const;

 private:
  struct State {
    PyObject* object = nullptr;  ///< Never dereferenced unless it is in the cache again.
    long outside = 0;            ///< References that are not the caches'.
    bool examined = false;
    bool dear = false;  ///< Too many objects to be looked at together with the others.
    bool slow = false;  ///< Did not fit into the time of a cell.
    OutputFacts facts;
  };
  bool examine_changed(const CacheView& view, bool bindings_moved, const Limits& limits);
  bool settle_quickly(PyObject* object, State& state, KnownTypes& types) const;
  bool needs_look(int number, PyObject* object, bool bindings_moved, KnownTypes& types);
  bool examine_group(std::vector<int> group, const CacheView& view, KnownTypes& types,
                     const Limits& limits);
  /// The group without the entries that turned out to be dear.
  bool examine_rest(std::vector<int> group, const CacheView& view, KnownTypes& types,
                    const Limits& limits);
  enum class Growth { done, limit_reached, too_large };
  Growth grow(Closure& closure, const std::vector<int>& group);
  void account(const Closure& closure, const std::vector<int>& group,
               const std::vector<Buffer>& buffers, KnownTypes& types);

  std::map<int, State> states_;
  CacheSlots slots_;
  std::uint64_t fingerprint_ = 0;
  bool unsettled_ = false;
};

}  // namespace xleak::facts
