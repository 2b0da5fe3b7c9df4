// A library that opens another one by its bare name, which its own RUNPATH alone leads to.
#include <dlfcn.h>

extern "C" void* open_by_bare_name(const char* name) { return ::dlopen(name, RTLD_NOW); }
