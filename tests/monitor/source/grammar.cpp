// Loads tree-sitter-python's grammar from its Python module, without Python: the module calls only
// the two functions below, whose signatures and structures are part of CPython's stable ABI.
#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "xleak/monitor/lint.hpp"

namespace {

const void* the_language = nullptr;

struct MethodDefinition {
  const char* name;
  void* (*function)(void* self, void* arguments);
  int flags;
  const char* documentation;
};

struct ModuleDefinition {
  std::ptrdiff_t reference_count;
  void* type;
  void* init;
  std::ptrdiff_t index;
  void* copy;
  const char* name;
  const char* documentation;
  std::ptrdiff_t size;
  MethodDefinition* methods;
};

struct LoadGrammar {
  LoadGrammar() {
    void* module = ::dlopen(XLEAK_GRAMMAR_MODULE, RTLD_LAZY);
    if (module == nullptr) throw std::runtime_error(::dlerror());
    using Init = void* (*)();
    reinterpret_cast<Init>(::dlsym(module, "PyInit__binding"))();
    xleak::monitor::use_grammar(static_cast<const TSLanguage*>(the_language));
  }
};

const LoadGrammar load_before_any_test;

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void* PyCapsule_New(void* pointer, const char*,
                                                           void (*)(void*)) {
  the_language = pointer;
  return pointer;
}

__attribute__((visibility("default"))) void* PyModule_Create2(ModuleDefinition* definition, int) {
  definition->methods[0].function(nullptr, nullptr);
  return nullptr;
}
}
