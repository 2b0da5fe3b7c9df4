#include "cache_slots.hpp"

#include <algorithm>
#include <cstdlib>

namespace xleak::facts {
namespace {

constexpr const char* kUnderscores[] = {"_", "__", "___"};

/// The n of a name _n, or 0.
int output_number(PyObject* name) {
  if (!PyUnicode_CheckExact(name) || !PyUnicode_IS_ASCII(name)) return 0;
  const Py_ssize_t length = PyUnicode_GET_LENGTH(name);
  const auto* text = reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(name));
  if (length < 2 || length > 9 || text[0] != '_' || text[1] == '0') return 0;
  int number = 0;
  for (Py_ssize_t i = 1; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') return 0;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

/// What is too small to be looked for, in any number. Text and integers may be large.
bool is_scalar(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (type == &PyUnicode_Type) return PyUnicode_GET_LENGTH(value) * 4 < kSmallBytes;
  if (type == &PyLong_Type) return std::abs(Py_SIZE(value)) * 4 < kSmallBytes;
  return type == &PyFloat_Type || type == &PyBool_Type || value == Py_None;
}

template <typename Use>
void each_item(PyObject* dict, Use use) {
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (dict != nullptr && PyDict_Next(dict, &position, &key, &value)) use(key, value);
}

class Reader {
 public:
  Reader(const CacheView& view, const std::map<int, PyObject*>& known)
      : view_(view), known_(known) {}

  CacheSlots read() {
    slots_.references.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(view_.out)));
    each_item(view_.out, [this](PyObject* key, PyObject* value) {
      if (!PyLong_CheckExact(key)) return;
      const int number = static_cast<int>(PyLong_AsLong(key));
      add_entry({value, nullptr, number});
    });
    each_item(view_.hidden_ns, [this](PyObject* key, PyObject* value) {
      const int number = output_number(key);
      if (number != 0) add_entry({value, kHidden, number});
    });
    each_item(view_.user_ns, [this](PyObject* key, PyObject* value) { add_name(key, value); });
    add_underscores();
    return std::move(slots_);
  }

 private:
  static constexpr const char* kHidden = "the shell's hidden namespace";

  bool in_use(int number) const { return view_.mentioned.count(number) != 0; }

  void add_entry(const CacheSlots::Slot& slot) {
    if (in_use(slot.number) || is_scalar(slot.object)) return;
    // The caches grow in the order of the numbers.
    slots_.entries.emplace_hint(slots_.entries.end(), slot.number, slot.object);
    add_slot(slot);
  }

  void add_slot(const CacheSlots::Slot& slot) {
    slots_.references[slot.object] += 1;
    slots_.slots.push_back(slot);
  }

  void add_name(PyObject* key, PyObject* value) {
    if (is_scalar(value) || !PyUnicode_Check(key) || is_underscore(key)) return;
    const int number = output_number(key);
    if (number != 0 && in_use(number)) return;
    const char* name = PyUnicode_AsUTF8(key);
    if (name == nullptr) return PyErr_Clear();
    const auto entry = slots_.entries.find(number);
    // A user may have a variable of his own called _5.
    if (number != 0 && entry != slots_.entries.end() && entry->second == value) {
      add_slot({value, name});
    } else if (!view_.tool_names.empty() && view_.tool_names.count(name) != 0) {
      add_slot({value, name, 0, true});
    } else {
      slots_.named.insert(value);
    }
  }

  static bool is_underscore(PyObject* key) {
    return std::any_of(std::begin(kUnderscores), std::end(kUnderscores), [key](const char* name) {
      return PyUnicode_CompareWithASCIIString(key, name) == 0;
    });
  }

  void add_underscores() {
    for (const char* name : kUnderscores) {
      PyObject* shown = PyDict_GetItemString(view_.display_hook, name);
      PyObject* hidden = PyDict_GetItemString(view_.hidden_ns, name);
      PyObject* user = PyDict_GetItemString(view_.user_ns, name);
      if (shown != nullptr) add_remnant(shown, "the display hook");
      if (hidden != nullptr) add_remnant(hidden, kHidden);
      if (user == nullptr) continue;
      if (user == shown || user == hidden) {
        add_remnant(user, name);
      } else if (!is_scalar(user)) {
        slots_.named.insert(user);
      }
    }
    PyObject* last =
        view_.last_result ? PyDict_GetItemString(view_.last_result, "result") : nullptr;
    if (last != nullptr) add_remnant(last, "the last execution result");
  }

  /// A reference beside Out; the entry may be gone from Out and live on here.
  void add_remnant(PyObject* value, const char* place) {
    if (is_scalar(value) || is_mentioned_value(value)) return;
    if (slots_.references.count(value) == 0) {
      for (const auto& [number, object] : known_) {
        if (object == value && !in_use(number)) slots_.entries.emplace(number, value);
      }
    }
    add_slot({value, place});
  }

  bool is_mentioned_value(PyObject* value) const {
    for (const int number : view_.mentioned) {
      PyObject* key = PyLong_FromLong(number);
      PyObject* entry = key == nullptr ? nullptr : PyDict_GetItemWithError(view_.out, key);
      Py_XDECREF(key);
      if (entry == value) return true;
    }
    return false;
  }

  const CacheView& view_;
  const std::map<int, PyObject*>& known_;
  CacheSlots slots_;
};

}  // namespace

std::string CacheSlots::Slot::label() const {
  if (place == nullptr) return "Out[" + std::to_string(number) + "]";
  return std::string(place) + (made_by_tool ? " (made by a tool)" : "");
}

std::vector<std::string> CacheSlots::labels_of(PyObject* object) const {
  std::vector<std::string> labels;
  for (const Slot& slot : slots) {
    if (slot.object != object) continue;
    std::string label = slot.label();
    const bool is_new = std::find(labels.begin(), labels.end(), label) == labels.end();
    if (is_new) labels.push_back(std::move(label));
  }
  return labels;
}

CacheSlots read_slots(const CacheView& view, const std::map<int, PyObject*>& known) {
  return Reader(view, known).read();
}

std::uint64_t fingerprint(const CacheView& view) {
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  const auto mix = [&sum](std::uint64_t value) { sum = (sum ^ value) * 1099511628211u; };
  each_item(view.out, [&](PyObject*, PyObject* value) {
    mix(reinterpret_cast<std::uint64_t>(value));
    if (!is_scalar(value)) mix(static_cast<std::uint64_t>(Py_REFCNT(value)));
  });
  const auto mix_object = [&](PyObject* value) {
    if (value != nullptr && !is_scalar(value)) mix(reinterpret_cast<std::uint64_t>(value));
  };
  for (PyObject* dict : {view.user_ns, view.hidden_ns, view.display_hook}) {
    each_item(dict, [&](PyObject*, PyObject* value) { mix_object(value); });
  }
  // The rest of the last result is new after every cell.
  if (view.last_result) mix_object(PyDict_GetItemString(view.last_result, "result"));
  mix(view.tool_names.size());
  mix(view.mentioned.size());
  return sum;
}

}  // namespace xleak::facts
