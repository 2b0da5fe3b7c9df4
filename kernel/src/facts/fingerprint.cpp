#include "fingerprint.hpp"

#include "shell_names.hpp"

namespace xleak::facts {
namespace {

template <typename Use>
void each_value(PyObject* dict, Use use) {
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &position, &key, &value)) use(value);
}

}  // namespace

std::uint64_t fingerprint(PyObject* entries, const std::vector<PyObject*>& namespaces,
                          PyObject* last) {
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  const auto mix = [&sum](std::uint64_t value) { sum = (sum ^ value) * 1099511628211u; };
  const auto mix_object = [&](PyObject* value) {
    if (!is_small_scalar(value)) mix(reinterpret_cast<std::uint64_t>(value));
  };
  each_value(entries, [&](PyObject* value) {
    mix(reinterpret_cast<std::uint64_t>(value));
    if (!is_small_scalar(value)) mix(static_cast<std::uint64_t>(Py_REFCNT(value)));
  });
  for (PyObject* dict : namespaces) each_value(dict, mix_object);
  if (last != nullptr) mix_object(last);
  return sum;
}

}  // namespace xleak::facts
