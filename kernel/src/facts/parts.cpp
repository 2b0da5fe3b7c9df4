#include "parts.hpp"

#include <algorithm>

#include "buffers.hpp"

namespace xleak::facts {
namespace {

std::int64_t identity(PyObject* object) { return reinterpret_cast<std::int64_t>(object); }

}  // namespace

Parts parts_of(PyObject* object, const Pointers& barriers) {
  KnownTypes types;
  TorchFacts torch;
  const Limits none;
  Closure closure(types, torch, barriers, none);
  closure.add_root(object, 0);
  Parts parts{identity(object)};
  // Smaller ones may be shared by unrelated objects, such as the column names of data frames.
  for (const Node& node : closure.nodes()) {
    PythonBytes own = node.leaves;
    types.add_own_bytes(node.object, node.kind, own);
    if (own.total() >= kSmallBytes) parts.insert(identity(node.object));
  }
  for (const Buffer& buffer : find_buffers(closure, torch)) {
    if (buffer.bytes >= kSmallBytes) parts.insert(buffer.key);
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

Bytes would_free(const std::vector<PyObject*>& objects, const CacheReferences& dropped,
                 const Pointers& named, const Pointers& barriers) {
  KnownTypes types;
  TorchFacts torch;
  const Limits none;
  Closure closure(types, torch, barriers, none);
  for (PyObject* object : objects) closure.add_root(object, 0);
  closure.mark_held(dropped);
  auto buffers = find_buffers(closure, torch);
  if (in_doubt(buffers, Buffer::Doubt::tensors)) ask_live_tensors(buffers, closure, types, torch);
  if (in_doubt(buffers, Buffer::Doubt::names)) {
    Closure names(types, torch, barriers, none);
    for (PyObject* name : named) names.add_root(name, 0);
    ask_names(buffers, names, torch);
  }
  Bytes bytes;
  PythonBytes python;
  for (const Node& node : closure.nodes()) {
    if (node.held) continue;
    python.add(node.leaves);
    types.add_own_bytes(node.object, node.kind, python);
  }
  add(bytes, python);
  for (const Buffer& buffer : buffers) {
    if (!buffer.held) add(bytes, buffer.owner, buffer.bytes);
  }
  return bytes;
}

}  // namespace xleak::facts
