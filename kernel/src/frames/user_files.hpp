#pragma once
#include <Python.h>

#include <string>
#include <vector>

#include "text.hpp"

namespace xleak::frames {

/// Which files are the user's, by their names alone.
///
/// Theirs are a cell's, whatever name its kernel gives it, and every file that lies neither in a
/// folder of libraries nor in xleak's own. In angle brackets they are what IPython, `%%time` and
/// the interactive interpreters name so. Code of a text that was handed to exec() or compile()
/// without a name of its own, `<string>`, is not: libraries make most of it, its lines are nowhere
/// to be read, and the line that had it run is the user's.
class UserFiles {
 public:
  /// With the folders of Python's library, and those that site and sys.path name. Throws
  /// monitor::Error where they cannot be had. Wants the GIL.
  static UserFiles of_this_python();

  /// Files in this folder are not the user's. What is no text is ignored.
  void leave_out(PyObject* folder);
  /// Reads nothing but the text; may be called by a thread without the GIL.
  bool have(const RawText& file) const noexcept;

 private:
  std::vector<std::u32string> libraries_;  ///< Each ends in a slash.
};

}  // namespace xleak::frames
