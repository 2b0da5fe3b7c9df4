// Memory that no name of the user's leads to, kept by something of a library or of the interpreter.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::memory_out_of_reach {
namespace {

std::string message(const Holder& holder) {
  const std::string kept = holder.label + " keeps " + human(holder.held_bytes) +
                           " that none of your names leads to (" + holder.largest + "). ";
  if (!holder.release.empty()) return kept + "Free them with `" + holder.release + "`.";
  return kept + "Take them out there: cancel the timer, remove the callback or clear the cache.";
}

std::string message_of_variable(const Holder& holder) {
  return holder.label + " keeps " + human(holder.held_bytes) + " (" + holder.largest +
         "), and the function does not read it again. `del` it there before the function waits, or "
         "have the thread end.";
}

std::string message_of_native_code(const Holder& holder) {
  const std::string by = holder.label.substr(0, holder.label.find(':'));
  const std::string kept = std::to_string(holder.count) +
                           (holder.count == 1 ? " callback " : " callbacks ") + holder.largest +
                           (holder.count == 1 ? " keeps " : " keep ") + human(holder.held_bytes) +
                           " that none of your names leads to, and native code alone has it" +
                           (by == "native code" ? ". " : ", by `" + by + "`. ");
  if (!holder.release.empty()) return kept + "Take it back with `" + holder.release + "`.";
  return kept + "Take it back where it was registered, or close what it was given to.";
}

std::string message_of_objects(const Holder& holder) {
  return std::to_string(holder.count) + (holder.count == 1 ? " object of " : " objects of ") +
         holder.largest + (holder.count == 1 ? " keeps " : " keep ") + human(holder.held_bytes) +
         " that none of your names leads to, and native code alone has it. Take it back where it "
         "was "
         "handed over: leave what was entered, or remove what was registered.";
}

std::string message_of_threads(const Holder& holder) {
  const bool several = holder.count > 1;
  return holder.label + (several ? " wait" : " waits") + " for ever in " + holder.largest +
         ": no name and no other thread leads to what could end that. " +
         (several ? "They keep " : "It keeps ") + human(holder.held_bytes) + ". End " +
         (several ? "them" : "it") + " with `" + holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {{"out of reach", "Clear it", message},
                          {"unread variable", "", message_of_variable},
                          {"waiting threads", "End the threads", message_of_threads},
                          {"callbacks of native code", "Take it back", message_of_native_code},
                          {"objects of native code", "", message_of_objects}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL421", "memory_out_of_reach", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::memory_out_of_reach
