#include "parts.hpp"

#include <algorithm>

#include "buffers.hpp"

namespace xleak::facts {
namespace {

std::int64_t identity(PyObject* object) { return reinterpret_cast<std::int64_t>(object); }

/// Who shares a buffer agrees on its address, whatever library it came from.
std::int64_t part_of(const Buffer& buffer) {
  return buffer.address != 0 ? buffer.address : buffer.key;
}

/// Adds a node that is large in itself. Smaller ones may be shared by unrelated objects, such as
/// the column names of data frames.
void add_part(const Node& node, KnownTypes& types, Parts& parts) {
  PythonBytes own = node.leaves;
  types.add_own_bytes(node.object, node.kind, own);
  if (own.total() < kSmallBytes) return;
  const bool array = node.kind == Kind::ndarray;
  auto* data = array ? reinterpret_cast<ArrayFields*>(node.object)->data : nullptr;
  parts.insert(array ? reinterpret_cast<std::int64_t>(data) : identity(node.object));
}

}  // namespace

Parts parts_of(PyObject* object, const Pointers& barriers) {
  KnownTypes types;
  TorchFacts torch;
  Closure closure(types, torch, barriers);
  closure.add_root(object);
  Parts parts{identity(object)};
  for (const Node& node : closure.nodes()) add_part(node, types, parts);
  for (const Buffer& buffer : find_buffers(closure, torch)) {
    if (buffer.bytes >= kSmallBytes) parts.insert(part_of(buffer));
  }
  return parts;
}

bool reaches(PyObject* object, const Parts& parts, const Pointers& barriers) {
  KnownTypes types;
  TorchFacts torch;
  Closure closure(types, torch, barriers);
  if (!closure.add_root(object)) return false;
  Parts reached;
  for (const Node& node : closure.nodes()) {
    reached.insert(identity(node.object));
    add_part(node, types, reached);
  }
  for (const Buffer& buffer : find_buffers(closure, torch)) reached.insert(part_of(buffer));
  return std::any_of(parts.begin(), parts.end(),
                     [&reached](std::int64_t part) { return reached.count(part) != 0; });
}

}  // namespace xleak::facts
