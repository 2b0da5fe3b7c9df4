// A container that functions add to, and whose elements no code has read.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::additions_never_read {
namespace {

std::string message(const Holder& holder) {
  const std::string by = holder.largest == "<lambda>" ? "a lambda" : holder.largest + "()";
  return holder.label + " keeps " + human(holder.held_bytes) + " in " +
         std::to_string(holder.count) + " elements that " + by +
         " added; no code has read them. Free them with `" + holder.release + "`.";
}

std::string message_of_growth(const Holder& holder) {
  const std::string by = holder.largest.empty() ? "a loop" : holder.largest + "()";
  return holder.label + " keeps " + human(holder.held_bytes) + ": " + by +
         " bound it to itself and more, again and again; no code has read what is in it. Free it "
         "with `" +
         holder.release + "`.";
}

std::string message_of_memo(const Holder& holder) {
  return holder.label + " keeps " + human(holder.held_bytes) + " in " +
         std::to_string(holder.count) + " entries in which " + holder.largest +
         "() cannot have found anything again: no key comes back. Free them with `" +
         holder.release + "`, and leave out of the key what never comes back.";
}

std::string message_of_library(const Holder& holder) {
  const std::string all = holder.label + " (" + holder.largest + ") keeps " +
                          human(holder.held_bytes) + " in " + std::to_string(holder.count) +
                          " parts that it was given one by one; no code has read them.";
  return holder.release.empty() ? all + " Close it, or give it less."
                                : all + " Free them with `" + holder.release + "`.";
}

std::string message_of_object(const Holder& holder) {
  return holder.label + " (" + holder.largest + ") has grown by " + human(holder.held_bytes) +
         " since it was made, and no later cell uses it. Free it with `" + holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {{"unread additions", "Clear the container", message},
                                   {"unread growth", "Begin again", message_of_growth},
                                   {"memo without hits", "Clear the memo", message_of_memo},
                                   {"handed over", "Clear the container", message_of_library},
                                   {"grown object", "Delete it", message_of_object}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL423", "additions_never_read", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::additions_never_read
