#include "parts.hpp"

#include <algorithm>

#include "buffers.hpp"

namespace xleak::facts {
namespace {

// Smaller buffers may be shared by unrelated objects, such as the column names of data frames.
constexpr std::int64_t kBufferBytes = 64 << 10;

std::int64_t identity(PyObject* object) { return reinterpret_cast<std::int64_t>(object); }

}  // namespace

Parts parts_of(PyObject* object, const Pointers& barriers) {
  KnownTypes types;
  TorchFacts torch;
  Closure closure(types, torch, barriers, {});
  closure.add_root(object, 0);
  Parts parts{identity(object)};
  for (const Node& node : closure.nodes()) {
    const bool array = node.kind == Kind::ndarray;
    if (array && owned_array_bytes(node.object) >= kBufferBytes)
      parts.insert(identity(node.object));
  }
  for (const Buffer& buffer : find_buffers(closure, torch)) {
    if (buffer.bytes >= kBufferBytes) parts.insert(buffer.key);
  }
  return parts;
}

bool reaches(PyObject* object, const Parts& parts, const Pointers& barriers, const Limits& limits) {
  KnownTypes types;
  TorchFacts torch;
  Closure closure(types, torch, barriers, limits);
  if (!closure.add_root(object, 0)) return false;
  const auto& nodes = closure.nodes();
  const auto is_part = [&parts](const Node& node) {
    return parts.count(identity(node.object)) != 0;
  };
  if (std::any_of(nodes.begin(), nodes.end(), is_part)) return true;
  const auto buffers = find_buffers(closure, torch);
  return std::any_of(buffers.begin(), buffers.end(),
                     [&parts](const Buffer& buffer) { return parts.count(buffer.key) != 0; });
}

}  // namespace xleak::facts
