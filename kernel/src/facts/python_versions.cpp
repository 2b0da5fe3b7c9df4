#include "python_versions.hpp"

#include "reference.hpp"

namespace xleak::facts {

#if PY_VERSION_HEX < 0x030C0000

namespace {

/// Adds the texts in a list, or in none, that nobody else has.
void add_pieces(PyObject* list, StreamText& found) {
  for (Py_ssize_t i = 0; list != nullptr && i < PyList_GET_SIZE(list); ++i) {
    PyObject* piece = PyList_GET_ITEM(list, i);
    if (Py_REFCNT(piece) > 1) continue;
    found.start = piece;
    found.bytes += PyUnicode_GET_LENGTH(piece) * PyUnicode_KIND(piece);
  }
}

}  // namespace

#endif

StreamText text_of_stream(PyObject* stream) {
  // As Modules/_io/stringio.c has it.
  struct Fields {
    PyObject_HEAD Py_UCS4* characters;
    Py_ssize_t position;
    Py_ssize_t length;
    std::size_t allocated;
    int state;
    // From 3.12 on the writer's text, from 3.14 on a writer that begins with it.
    PyObject* first;
    PyObject* second;
  };
  constexpr int kAppended = 2;
  const auto* fields = reinterpret_cast<Fields*>(stream);
  if (fields->state != kAppended)
    return {fields->characters, static_cast<std::int64_t>(fields->allocated * sizeof(Py_UCS4))};
#if PY_VERSION_HEX < 0x030C0000
  StreamText found;
  add_pieces(fields->first, found);
  add_pieces(fields->second, found);
  return found;
#else
  PyObject* text = fields->first;
#if PY_VERSION_HEX >= 0x030E0000
  text = text == nullptr ? nullptr : *reinterpret_cast<PyObject**>(text);
#endif
  if (text == nullptr || Py_REFCNT(text) > 1) return {};
  return {text, PyUnicode_GET_LENGTH(text) * PyUnicode_KIND(text)};
#endif
}

Reference globals_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return Reference::steal(PyFrame_GetGlobals(frame));
#else
  return Reference::share(frame->f_globals);
#endif
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

#if PY_VERSION_HEX >= 0x030C0000

Reference locals_of(PyFrameObject* frame) {
  const auto code = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const auto names =
      Reference::steal(PyCode_GetVarnames(reinterpret_cast<PyCodeObject*>(code.get())));
  auto locals = Reference::steal(PyDict_New());
  for (Py_ssize_t i = 0; names && locals && i < PyTuple_GET_SIZE(names.get()); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names.get(), i);
    const auto found = Reference::steal(PyFrame_GetVar(frame, name));
    if (found) PyDict_SetItem(locals.get(), name, found.get());
    PyErr_Clear();
  }
  PyErr_Clear();
  return locals;
}

#elif PY_VERSION_HEX >= 0x030B0000

namespace {

/// The dictionary that a frame had made of its locals, by `f_locals`. It is visited before the
/// function and the locals themselves.
int find_locals_dict(PyObject* seen, void* found) {
  if (PyFunction_Check(seen)) return 1;
  if (PyDict_CheckExact(seen)) *static_cast<PyObject**>(found) = seen;
  return 0;
}

}  // namespace

// The frame shows its locals only by a dictionary, which it keeps, and with it their values.
Reference locals_of(PyFrameObject* frame) {
  const auto code = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  // Others, of modules and classes, have their namespace itself.
  if ((reinterpret_cast<PyCodeObject*>(code.get())->co_flags & CO_OPTIMIZED) == 0)
    return Reference::steal(PyDict_New());
  PyObject* had = nullptr;
  PyFrame_Type.tp_traverse(reinterpret_cast<PyObject*>(frame), find_locals_dict, &had);
  const auto before = Reference::steal(had == nullptr ? PyDict_New() : PyDict_Copy(had));
  const auto shown = Reference::steal(before ? PyFrame_GetLocals(frame) : nullptr);
  Reference locals;
  if (shown) {
    locals = Reference::steal(PyDict_Copy(shown.get()));
    PyDict_Clear(shown.get());
    PyDict_Update(shown.get(), before.get());
  }
  PyErr_Clear();
  return locals;
}

#else

Reference locals_of(PyFrameObject* frame) {
  auto locals = Reference::steal(PyDict_New());
  PyObject* names = frame->f_code->co_varnames;
  for (int i = 0; locals && i < frame->f_code->co_nlocals; ++i) {
    PyObject* value = frame->f_localsplus[i];
    if (value != nullptr) PyDict_SetItem(locals.get(), PyTuple_GET_ITEM(names, i), value);
  }
  PyErr_Clear();
  return locals;
}

#endif

Reference local_name(PyFrameObject* frame, PyObject* value) {
  const Reference locals = locals_of(frame);
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* held = nullptr;
  while (locals && PyDict_Next(locals.get(), &position, &key, &held))
    if (held == value) return Reference::share(key);
  return {};
}

}  // namespace xleak::facts
