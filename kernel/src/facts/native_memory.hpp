#pragma once
#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "address_index.hpp"
#include "known_types.hpp"
#include "xleak/monitor/large_blocks.hpp"

namespace xleak::facts {

/// Finds large blocks of malloc behind objects of extension modules, which show them by no
/// interface: the pixels of a picture, the nodes of a tree. Reads what looks like addresses in the
/// object and in the small blocks that it points to, as a conservative garbage collector does
/// (Boehm and Weiser 1988). Runs no code of the objects. Wants the GIL.
class NativeMemory {
 public:
  /// known: all large blocks, by address. wanted: those of them, in that order, whose owner is not
  /// known. objects: those that are asked themselves. All outlive this object.
  NativeMemory(const std::vector<monitor::LargeBlock>& known,
               const std::vector<monitor::LargeBlock>& wanted, KnownTypes& types,
               const AddressIndex& objects);

  /// The wanted blocks that an object leads to, each once: the indexes of them. bytes: how many of
  /// its own an extension module lays out, more than its head.
  const std::vector<std::size_t>& behind(PyObject* object, std::size_t bytes);

 private:
  struct Words {
    std::vector<std::uintptr_t> words;
    int depth;
  };

  void read(const std::uintptr_t* words, std::size_t count, int depth);
  bool is_in_wanted(std::uintptr_t address);
  void follow(std::uintptr_t address, int depth);
  std::vector<std::uintptr_t> object_at(std::uintptr_t address);

  const std::vector<monitor::LargeBlock>& known_;
  const std::vector<monitor::LargeBlock>& wanted_;
  KnownTypes& types_;
  const AddressIndex& objects_;
  std::array<bool, 4096> granules_{};  ///< By a part of an address: whether a wanted block is near.
  std::vector<std::size_t> found_;
  std::vector<std::uintptr_t> followed_;  ///< Addresses of small blocks, of one object.
  std::vector<Words> pending_;
  std::size_t left_;  ///< Small blocks that may still be read, of all objects together.
};

}  // namespace xleak::facts
