#include "birth_places.hpp"

#include <frameobject.h>

#include <algorithm>
#include <memory>

#include "collector_paused.hpp"

namespace xleak::facts {
namespace {

// The collector's own fields, and the two pointers that CPython 3.11 puts before those.
constexpr std::size_t kMostBefore = 4 * sizeof(void*);

std::string file_of(PyObject* code) {
  const char* name = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code)->co_filename);
  if (name == nullptr) PyErr_Clear();
  return name == nullptr ? "" : name;
}

}  // namespace

BirthPlaces& BirthPlaces::instance() {
  static BirthPlaces* const places = std::make_unique<BirthPlaces>().release();
  return *places;
}

bool BirthPlaces::start(std::size_t size, std::vector<std::string> libraries) {
  if (on_) return false;
  clear();
  size_ = size;
  libraries_ = std::move(libraries);
  if (!installed_) {
    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &next_);
    PyMemAllocatorEx own{this, allocate, allocate_zeros, resize, free};
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &own);
    installed_ = true;
  }
  on_ = true;
  return true;
}

void BirthPlaces::stop() {
  on_ = false;
  clear();
  PyMemAllocatorEx now{};
  PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &now);
  // One that came later goes on through this one.
  if (!installed_ || now.ctx != this) return;
  PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &next_);
  installed_ = false;
}

std::optional<std::pair<std::string, int>> BirthPlaces::of(std::uintptr_t object) const {
  auto at = places_.upper_bound(object);
  if (at == places_.begin()) return std::nullopt;
  --at;
  if (object >= at->first + at->second.size) return std::nullopt;
  return std::pair(file_of(at->second.code), at->second.line);
}

void BirthPlaces::clear() {
  places_.clear();
  // To let go of code may run code.
  decltype(codes_) codes;
  codes.swap(codes_);
}

void* BirthPlaces::allocate(void* self, std::size_t bytes) {
  auto& places = *static_cast<BirthPlaces*>(self);
  void* block = places.next_.malloc(places.next_.ctx, bytes);
  places.made(block, bytes);
  return block;
}

void* BirthPlaces::allocate_zeros(void* self, std::size_t count, std::size_t bytes) {
  auto& places = *static_cast<BirthPlaces*>(self);
  void* block = places.next_.calloc(places.next_.ctx, count, bytes);
  places.made(block, count * bytes);
  return block;
}

void* BirthPlaces::resize(void* self, void* block, std::size_t bytes) {
  auto& places = *static_cast<BirthPlaces*>(self);
  void* resized = places.next_.realloc(places.next_.ctx, block, bytes);
  if (resized != nullptr) places.gone(block);
  return resized;
}

void BirthPlaces::free(void* self, void* block) {
  auto& places = *static_cast<BirthPlaces*>(self);
  places.gone(block);
  places.next_.free(places.next_.ctx, block);
}

void BirthPlaces::made(void* block, std::size_t bytes) noexcept {
  // To look at frames makes some.
  if (!on_ || asking_ || block == nullptr || bytes < size_ || bytes > size_ + kMostBefore) return;
  asking_ = true;
  try {
    if (const auto place = place_now(bytes)) {
      places_.insert_or_assign(reinterpret_cast<std::uintptr_t>(block), *place);
    }
  } catch (...) {
    // Out of memory: the place of this one is not known.
  }
  asking_ = false;
}

void BirthPlaces::gone(void* block) noexcept {
  if (on_) places_.erase(reinterpret_cast<std::uintptr_t>(block));
}

/// The innermost line of the user's that runs.
std::optional<BirthPlaces::Place> BirthPlaces::place_now(std::size_t bytes) {
  const CollectorPaused paused;
  auto frame =
      Reference::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame) {
    auto* at = reinterpret_cast<PyFrameObject*>(frame.get());
    const auto code = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(at)));
    if (!is_of_library(code.get())) {
      return Place{bytes, code.get(), PyFrame_GetLineNumber(at)};
    }
    frame = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  return std::nullopt;
}

bool BirthPlaces::is_of_library(PyObject* code) {
  const auto known = codes_.find(code);
  if (known != codes_.end()) return known->second.second;
  const std::string file = file_of(code);
  const bool is = std::any_of(libraries_.begin(), libraries_.end(), [&file](const auto& start) {
    return file.compare(0, start.size(), start) == 0;
  });
  codes_.emplace(code, std::pair(Reference::share(code), is));
  return is;
}

}  // namespace xleak::facts
