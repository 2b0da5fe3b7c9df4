#include "step_name.hpp"

#include <structmember.h>

#include <optional>

#include "known_types.hpp"
#include "python_versions.hpp"
#include "reference.hpp"
#include "torch_facts.hpp"

namespace xleak::facts {
namespace {

constexpr Py_ssize_t kLongestKey = 60;
constexpr const char* kDict = ".__dict__";

std::string text_of(PyObject* text) {
  if (PyUnicode_GET_LENGTH(text) > kLongestKey) return "…";
  const char* utf8 = PyUnicode_AsUTF8(text);
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 == nullptr ? "…" : utf8;
}

std::string type_text(PyObject* object) { return std::string(" → ") + Py_TYPE(object)->tp_name; }

std::string key_text(PyObject* key) {
  if (PyUnicode_CheckExact(key)) return "['" + text_of(key) + "']";
  if (PyLong_CheckExact(key)) {
    const long long number = PyLong_AsLongLong(key);
    if (number != -1 || !PyErr_Occurred()) return "[" + std::to_string(number) + "]";
    PyErr_Clear();
  }
  return std::string("[<") + Py_TYPE(key)->tp_name + ">]";
}

std::optional<std::string> entry_of(PyObject* dict, PyObject* to) {
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &position, &key, &value)) {
    if (value == to) return key_text(key);
    if (key == to) return " → a key";
  }
  return std::nullopt;
}

/// Lists, tuples and deques: the items are read without asking a subclass.
std::optional<std::string> item_of(PyObject* from, PyObject* to) {
  const auto text = [](Py_ssize_t index) { return "[" + std::to_string(index) + "]"; };
  if (PyList_Check(from)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(from); ++i)
      if (PyList_GET_ITEM(from, i) == to) return text(i);
  } else if (PyTuple_Check(from)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(from); ++i)
      if (PyTuple_GET_ITEM(from, i) == to) return text(i);
  } else if (PyTypeObject* deque = imported_type("_collections", "deque");
             deque != nullptr && PyObject_TypeCheck(from, deque)) {
    const Reference iterator = Reference::steal(deque->tp_iter(from));
    for (Py_ssize_t i = 0; iterator; ++i) {
      const Reference item = Reference::steal(Py_TYPE(iterator.get())->tp_iternext(iterator.get()));
      if (!item) break;
      if (item.get() == to) return text(i);
    }
    PyErr_Clear();
  }
  return std::nullopt;
}

/// What a type written in C, or __slots__, keeps at a fixed place.
std::optional<std::string> member_of(PyObject* from, PyObject* to) {
  for (const PyTypeObject* type = Py_TYPE(from); type != nullptr; type = type->tp_base) {
    for (const PyMemberDef* member = type->tp_members; member != nullptr && member->name != nullptr;
         ++member) {
      if (member->type != T_OBJECT && member->type != T_OBJECT_EX) continue;
      const auto* at = reinterpret_cast<const char*>(from) + member->offset;
      if (*reinterpret_cast<PyObject* const*>(at) == to) return std::string(".") + member->name;
    }
  }
  return std::nullopt;
}

std::optional<std::string> function_part_of(PyObject* from, PyObject* to) {
  if (PyFunction_GET_DEFAULTS(from) == to) return ".__defaults__";
  if (PyFunction_GET_KW_DEFAULTS(from) == to) return ".__kwdefaults__";
  if (PyFunction_GET_CODE(from) == to) return ".__code__";
  return std::nullopt;
}

/// The instance's own dictionary, or what stands in it.
std::optional<std::string> attribute_of(PyObject* from, PyObject* to) {
  if (PyType_Check(from)) {
    if (dict_of_type(reinterpret_cast<PyTypeObject*>(from)) == to) return kDict;
  }
  PyObject** dict = _PyObject_GetDictPtr(from);
  if (dict == nullptr || *dict == nullptr || !PyDict_Check(*dict)) return std::nullopt;
  if (*dict == to) return kDict;
  const auto entry = entry_of(*dict, to);
  return entry ? std::optional(kDict + *entry) : std::nullopt;
}

int is_target(PyObject* seen, void* target) { return seen == target ? 1 : 0; }

bool refers_to(PyObject* from, PyObject* to) {
  const auto traverse = Py_TYPE(from)->tp_traverse;
  return traverse != nullptr && traverse(from, is_target, to) == 1;
}

/// A frame that runs shows no locals to the collector, and is not asked.
std::optional<std::string> local_of(PyObject* frame, PyObject* to) {
  if (!refers_to(frame, to)) return std::nullopt;
  const Reference name = local_name(reinterpret_cast<PyFrameObject*>(frame), to);
  return name ? std::optional(".f_locals" + key_text(name.get())) : std::nullopt;
}

bool is_name(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const unsigned char c : text) {
    const bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    if (!letter && c != '_' && !(c >= '0' && c <= '9') && c < 0x80) return false;
  }
  return true;
}

}  // namespace

std::string step_name(PyObject* from, PyObject* to) {
  if (PyDict_Check(from)) {
    if (const auto entry = entry_of(from, to)) return *entry;
  }
  if (const auto item = item_of(from, to)) return *item;
  if (PyFrame_Check(from)) {
    if (const auto local = local_of(from, to)) return *local;
  }
  if (PyFunction_Check(from)) {
    if (const auto part = function_part_of(from, to)) return *part;
  }
  if (PyCell_Check(from) && PyCell_GET(from) == to) return ".cell_contents";
  if (const auto member = member_of(from, to)) return *member;
  if (const auto attribute = attribute_of(from, to)) return *attribute;
  KnownTypes types;
  const Kind kind = types.kind_of(Py_TYPE(from));
  if (kind == Kind::ndarray && reinterpret_cast<ArrayFields*>(from)->base == to) return ".base";
  if (kind == Kind::tensor) {
    TorchFacts torch;
    if (torch.base_of(from).get() == to) return "._base";
    if (torch.gradient_of(from).get() == to) return ".grad";
    return ".grad_fn" + type_text(to);
  }
  // Their references are no Python objects' own: an item of an object array, say.
  if (kind == Kind::ndarray) return type_text(to);
  return refers_to(from, to) ? type_text(to) : "";
}

std::string shortened(std::string way) {
  const std::string opening = std::string(kDict) + "['";
  for (auto at = way.find(opening); at != std::string::npos; at = way.find(opening, at + 1)) {
    const auto key = at + opening.size();
    const auto end = way.find("']", key);
    if (end == std::string::npos || !is_name(way.substr(key, end - key))) continue;
    way = way.substr(0, at) + "." + way.substr(key, end - key) + way.substr(end + 2);
  }
  return way;
}

}  // namespace xleak::facts
