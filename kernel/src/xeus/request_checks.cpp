#include "request_checks.hpp"

#include <map>
#include <vector>

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;

// xeus-python's debugger reads these without asking whether they are there.
const std::map<std::string, nl::json::json_pointer> kDebuggerNeeds = {
    {"dumpCell", nl::json::json_pointer("/code")},
    {"setBreakpoints", nl::json::json_pointer("/source/path")},
    {"source", nl::json::json_pointer("/source/path")},
    {"richInspectVariables", nl::json::json_pointer("/variableName")}};

// The texts without which a message means nothing. To find that out in Python would cost a
// traceback; to serve it all the same, a completion of every name there is.
const std::map<std::string, std::vector<const char*>> kNeeds = {
    {"execute_request", {"code"}},
    {"complete_request", {"code"}},
    {"inspect_request", {"code"}},
    {"is_complete_request", {"code"}},
    {"comm_open", {"comm_id", "target_name"}},
    {"comm_msg", {"comm_id"}},
    {"comm_close", {"comm_id"}}};

}  // namespace

std::string text_in(const nl::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string what_is_wrong_with_debug_request(const nl::json& content) {
  const std::string command = text_in(content, "command");
  const nl::json arguments = content.value("arguments", nl::json::object());
  if (text_in(content, "type") != "request" || command.empty()) return "type or command is missing";
  if (!content.value("seq", nl::json()).is_number_integer()) return "seq is no integer";
  if (!arguments.is_object()) return "arguments are no object";
  const auto need = kDebuggerNeeds.find(command);
  if (need == kDebuggerNeeds.end()) return "";
  const bool given = arguments.contains(need->second) && arguments.at(need->second).is_string();
  return given ? "" : command + " lacks the text " + need->second.to_string();
}

std::string what_is_missing(const std::string& type, const nl::json& content) {
  const auto needs = kNeeds.find(type);
  if (needs == kNeeds.end()) return "";
  for (const char* key : needs->second) {
    const auto found = content.find(key);
    if (found == content.end() || !found->is_string()) return type + " lacks the text " + key;
  }
  return "";
}

}  // namespace xleak::kernel
