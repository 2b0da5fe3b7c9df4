#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "closure.hpp"

namespace xleak::facts {

/// Memory outside Python's objects, which several of them may share.
struct Buffer {
  std::int64_t key = 0;      ///< The same for all that share it.
  std::int64_t address = 0;  ///< 0 where its library does not tell.
  std::int64_t bytes = 0;
  std::string owner;
  std::uint32_t root = 0;  ///< The first root of the closure that reaches it.
  bool held = false;       ///< By something outside the closure.
  enum class Doubt { none, tensors, names } doubt = Doubt::none;  ///< Who else may share it.
};

/// The buffers of every tensor, TensorFlow's too, and of every Arrow and Polars object in
/// `closure`, each once.
std::vector<Buffer> find_buffers(const Closure& closure, TorchFacts& torch);

/// Gets the address and the bytes of a buffer.
using TakeBuffer = std::function<void(std::int64_t, std::int64_t)>;
using BufferVisitor = void (*)(PyObject*, const TakeBuffer&);

/// Calls `take` with every buffer of an Arrow object.
void visit_arrow_buffers(PyObject* object, const TakeBuffer& take);

/// The same for the numbers of one of TensorFlow's eager tensors in the process's own memory, or,
/// where the tensor is the handle of a variable, for those of the variable: its address is the
/// handle's, since TensorFlow does not tell the memory's. Lets other threads run.
void visit_eager_buffer(PyObject* tensor, const TakeBuffer& take);

/// Whether so much is in this doubt that it is worth a search.
bool in_doubt(const std::vector<Buffer>& buffers, Buffer::Doubt doubt);

/// Settles doubts about tensors where one of the user's names answers them; see below.
void ask_named_tensors(std::vector<Buffer>& buffers, const Pointers& named, KnownTypes& types,
                       TorchFacts& torch);

/// Settles doubts about tensors: a live tensor outside the closure that shares the storage, or
/// whose graph may have saved it, holds it.
void ask_live_tensors(std::vector<Buffer>& buffers, const Closure& closure, KnownTypes& types,
                      TorchFacts& torch);

/// Settles the other doubts: what the user's names reach and share holds it.
void ask_names(std::vector<Buffer>& buffers, const Closure& names, TorchFacts& torch);

}  // namespace xleak::facts
