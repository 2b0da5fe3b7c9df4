#include "native_memory.hpp"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace xleak::facts {
namespace {

// A picture of Pillow's has a structure with a table of blocks of rows.
constexpr int kDeepestStructure = 3;
constexpr std::size_t kMostOfOne = 64;
constexpr std::size_t kMostOfAll = 100'000;
// What is larger is a large block itself.
constexpr std::size_t kLargestStructure = 64 << 10;
constexpr int kGranuleBits = 16;
// An owner knows where its block begins, or where after it what was aligned does. Addresses further
// within it are those of parts, which stay in memory that was freed and given to somebody else.
constexpr std::uintptr_t kFarthestIn = 64;

using Addresses = std::vector<std::uintptr_t>;

std::size_t granule_of(std::uintptr_t address) { return (address >> kGranuleBits) % 4096; }

/// Copies memory that may not be there.
bool copy_from(std::uintptr_t from, void* to, std::size_t bytes) {
  const iovec here{to, bytes};
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const iovec there{reinterpret_cast<void*>(from), bytes};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

/// The words of a block of glibc's malloc that begins at an address; empty where none does. The
/// size stands before a block, and before the next one that this one is in use.
std::vector<std::uintptr_t> block_at(std::uintptr_t address) {
  constexpr std::uintptr_t kFlags = 7, kInUse = 1, kMapped = 2;
  constexpr std::uintptr_t kLeast = 32, kAligned = 16;
  std::uintptr_t size = 0;
  if (address % kAligned != 0 || address < kLargestStructure) return {};
  if (!copy_from(address - sizeof size, &size, sizeof size) || (size & kMapped) != 0) return {};
  size &= ~kFlags;
  if (size < kLeast || size % kAligned != 0 || size > kLargestStructure) return {};
  std::vector<std::uintptr_t> words(size / sizeof(std::uintptr_t));
  if (!copy_from(address, words.data(), size)) return {};
  const std::uintptr_t next = words.back();
  if ((next & kInUse) == 0 || (next & ~kFlags) % kAligned != 0 || next < kAligned) return {};
  words.pop_back();
  return words;
}

}  // namespace

NativeMemory::NativeMemory(const std::vector<monitor::LargeBlock>& known,
                           const std::vector<monitor::LargeBlock>& wanted, KnownTypes& types,
                           const AddressIndex& objects)
    : known_(known), wanted_(wanted), types_(types), objects_(objects), left_(kMostOfAll) {
  for (const monitor::LargeBlock& block : wanted) {
    const std::uintptr_t end = block.address + static_cast<std::uintptr_t>(block.bytes);
    for (std::uintptr_t at = block.address >> kGranuleBits; at <= (end >> kGranuleBits); ++at)
      granules_.at(at % granules_.size()) = true;
  }
}

const std::vector<std::size_t>& NativeMemory::behind(PyObject* object, std::size_t bytes) {
  found_.clear();
  followed_.clear();
  pending_.clear();
  const auto* words = reinterpret_cast<const std::uintptr_t*>(object + 1);
  read(words, (bytes - sizeof(PyObject)) / sizeof(std::uintptr_t), 0);
  for (std::size_t at = 0; at < pending_.size(); ++at) {
    const Words its = std::move(pending_[at]);
    read(its.words.data(), its.words.size(), its.depth);
  }
  return found_;
}

void NativeMemory::read(const std::uintptr_t* words, std::size_t count, int depth) {
  for (std::size_t at = 0; at < count; ++at) {
    if (!is_in_wanted(words[at]) && depth < kDeepestStructure) follow(words[at], depth + 1);
  }
}

bool NativeMemory::is_in_wanted(std::uintptr_t address) {
  if (!granules_[granule_of(address)]) return false;
  const monitor::LargeBlock* block = monitor::block_with(wanted_, address);
  if (block == nullptr) return false;
  if (address - block->address > kFarthestIn) return true;
  const auto index = static_cast<std::size_t>(block - wanted_.data());
  if (std::find(found_.begin(), found_.end(), index) == found_.end()) found_.push_back(index);
  return true;
}

void NativeMemory::follow(std::uintptr_t address, int depth) {
  constexpr std::uintptr_t kEndOfUser = std::uintptr_t{1} << 47;
  if (address >= kEndOfUser || followed_.size() >= kMostOfOne || left_ == 0) return;
  // It is asked itself.
  if (objects_.find(address) != monitor::kNoNode) return;
  const monitor::LargeBlock* block = monitor::block_with(known_, address);
  if (block != nullptr && block->kind != monitor::BlockKind::python_arena) return;
  if (std::find(followed_.begin(), followed_.end(), address) != followed_.end()) return;
  std::vector<std::uintptr_t> words = block == nullptr ? block_at(address) : Addresses{};
  if (words.empty()) words = object_at(address);
  if (words.empty()) return;
  --left_;
  followed_.push_back(address);
  pending_.push_back({std::move(words), depth});
}

/// The words of an object that another one alone refers to, where an extension module lays it out;
/// empty where there is none.
std::vector<std::uintptr_t> NativeMemory::object_at(std::uintptr_t address) {
  struct Head {
    Py_ssize_t references;
    PyTypeObject* type;
  };
  Head head{}, of_type{};
  if (address % alignof(Head) != 0 || !copy_from(address, &head, sizeof head)) return {};
  // A class that is gone must not be asked: one that lives is in the heap, or part of a library.
  Dl_info library{};
  const bool lives = objects_.find(reinterpret_cast<std::uintptr_t>(head.type)) != monitor::kNoNode;
  if (!lives && ::dladdr(head.type, &library) == 0) return {};
  if (!copy_from(reinterpret_cast<std::uintptr_t>(head.type), &of_type, sizeof of_type)) return {};
  if (of_type.type != &PyType_Type) return {};
  const std::size_t bytes = types_.native_bytes(head.type);
  if (bytes <= sizeof(PyObject)) return {};
  std::vector<std::uintptr_t> words((bytes - sizeof(PyObject)) / sizeof(std::uintptr_t));
  if (!copy_from(address + sizeof(PyObject), words.data(), bytes - sizeof(PyObject))) return {};
  return words;
}

}  // namespace xleak::facts
