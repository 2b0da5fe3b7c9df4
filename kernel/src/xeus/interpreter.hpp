#pragma once
#include <functional>

#include "server.hpp"
#include "xeus-python/xinterpreter.hpp"

namespace xleak::kernel {

namespace py = pybind11;

/// xeus-python's interpreter around the shell of xleak.kernel, with every cell accounted natively.
class Interpreter final : public xpyt::interpreter {
 public:
  /// `application`: an object with initialize(), shell and log, as IPython's shell applications
  /// have.
  explicit Interpreter(py::object application);

  /// Takes over the requests that this kernel answers itself.
  void serve(Server& server);

 private:
  void configure_impl() override;
  void instanciate_ipython_shell() override;
  nlohmann::json complete_request_impl(const std::string& code, int cursor) override;
  nlohmann::json inspect_request_impl(const std::string& code, int cursor, int detail) override;
  nlohmann::json is_complete_request_impl(const std::string& code) override;
  nlohmann::json kernel_info_request_impl() override;

  nlohmann::json execute(Server& server, const xeus::xmessage& request);
  nlohmann::json run_cell(Server& server, const xeus::xmessage& request);
  /// Runs code of the user's, ends the time in which SIGINT stops it, and returns the reply (JSON).
  nlohmann::json interruptible(const std::function<py::object()>& call);
  py::object shell(const char* method) const { return m_ipython_shell.attr(method); }

  py::object application_;
  nlohmann::json kernel_info_;
};

}  // namespace xleak::kernel
