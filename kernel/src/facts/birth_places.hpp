#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference.hpp"

namespace xleak::facts {

/// Where in the user's code objects of one size were made, for as long as it is on. It stands
/// before Python's object allocator meanwhile. Every function wants the GIL.
class BirthPlaces {
 public:
  /// The one of this process; lives until the process ends, since another tool may keep its
  /// functions.
  static BirthPlaces& instance();

  BirthPlaces() = default;
  BirthPlaces(const BirthPlaces&) = delete;
  BirthPlaces& operator=(const BirthPlaces&) = delete;

  /// Objects of `size` bytes, beside what the collector puts before them. Code of files that begin
  /// with one of `libraries` is not the user's. False: it is on for somebody else.
  bool start(std::size_t size, std::vector<std::string> libraries);
  /// Forgets all of them.
  void stop();
  /// File and line of an object that was made while it was on and lives; empty for another.
  std::optional<std::pair<std::string, int>> of(std::uintptr_t object) const;

 private:
  struct Place {
    std::size_t size;
    PyObject* code;  ///< One of codes_.
    int line;
  };

  static void* allocate(void* self, std::size_t bytes);
  static void* allocate_zeros(void* self, std::size_t count, std::size_t bytes);
  static void* resize(void* self, void* block, std::size_t bytes);
  static void free(void* self, void* block);

  void clear();
  void made(void* block, std::size_t bytes) noexcept;
  void gone(void* block) noexcept;
  std::optional<Place> place_now(std::size_t bytes);
  bool is_of_library(PyObject* code);

  PyMemAllocatorEx next_{};
  bool installed_ = false;
  bool on_ = false;
  bool asking_ = false;
  std::size_t size_ = 0;
  std::vector<std::string> libraries_;
  std::map<std::uintptr_t, Place> places_;  ///< By the address of the block.
  std::unordered_map<PyObject*, std::pair<Reference, bool>> codes_;  ///< Whether of a library.
};

}  // namespace xleak::facts
