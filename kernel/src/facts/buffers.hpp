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
};

/// The buffers of every tensor, TensorFlow's too, and of every Arrow and Polars object in
/// `closure`, each once.
std::vector<Buffer> find_buffers(const Closure& closure, TorchFacts& torch);

/// Gets the address and the bytes of a buffer.
using TakeBuffer = std::function<void(std::int64_t, std::int64_t)>;
using BufferVisitor = void (*)(PyObject*, const TakeBuffer&);

/// Calls `take` with every buffer of an Arrow object.
void visit_arrow_buffers(PyObject* object, const TakeBuffer& take);

/// What of its buffers an Arrow object shows; the largest number where it does not say.
std::int64_t arrow_shown_bytes(PyObject* object);

/// The same for the numbers of one of TensorFlow's eager tensors in the process's own memory, or,
/// where the tensor is the handle of a variable, for those of the variable: its address is the
/// handle's, since TensorFlow does not tell the memory's. Lets other threads run.
void visit_eager_buffer(PyObject* tensor, const TakeBuffer& take);

/// What a frame or a series of Polars takes, by its own estimate.
std::int64_t polars_bytes(PyObject* frame);

}  // namespace xleak::facts
