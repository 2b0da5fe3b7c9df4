// A progress bar, an iterator or a grouping that keeps the data it was made from, or a thread-local
// that keeps what other threads put there, and that no later cell uses; weights before pruning.
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::input_kept_by_owner {
namespace {

std::string message(const Holder& holder) {
  const bool several = holder.count > 1;
  return holder.label + " (" + holder.largest + ")" + (several ? " together keep " : " keeps ") +
         human(holder.held_bytes) + " of the data " + (several ? "they were" : "it was") +
         " made from, which no other name reaches. No later cell uses " +
         (several ? "them" : "it") + ". Free it with `" + holder.release + "`.";
}

std::string message_of_threads(const Holder& holder) {
  return holder.label + " keeps " + human(holder.held_bytes) +
         " that other threads put there for themselves. No later cell uses it. End the "
         "threads: "
         "`shutdown()` of their pool.";
}

std::string message_of_parts(const Holder& holder) {
  const bool several = holder.count > 1;
  return (several ? std::to_string(holder.count) + " objects in " : "") + holder.label + " (" +
         holder.largest + (several ? ") keep " : ") keeps ") + human(holder.held_bytes) +
         " that no later cell reads and no other name reaches. Free it with `" + holder.release +
         "`, or keep the small result alone.";
}

std::string message_of_entries(const Holder& holder) {
  const std::string kept = holder.largest + " of " + std::to_string(holder.count) + " rows in " +
                           holder.label + " keeps " + human(holder.held_bytes) +
                           " that no later cell reads, while it reads others of their entries. ";
  if (holder.release.empty()) return kept + "Keep the small results alone.";
  return kept + "Free it with `" + holder.release + "`, or keep the small results alone.";
}

std::string message_of_elements(const Holder& holder) {
  return std::to_string(holder.count) + " elements of " + holder.label + " keep " +
         human(holder.held_bytes) + ". Later cells read `" + holder.largest +
         "` alone. Free the others with `" + holder.release + "`.";
}

std::string message_of_pruned(const Holder& holder) {
  const std::string others =
      holder.count > 1 ? " and " + std::to_string(holder.count - 1) + " more" : "";
  return holder.label + " keeps " + human(holder.held_bytes) + " beside its pruned weights (" +
         holder.largest + others +
         "): what they were before, and the masks. Each forward pass multiplies the two again. "
         "Keep the product alone with `" +
         holder.release + "`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session,
                         {{"kept input", "Delete it", message},
                          {"other threads", "Delete it", message_of_threads},
                          {"unread part", "Let go of it", message_of_parts},
                          {"unread entries", "Let go of it", message_of_entries},
                          {"unread elements", "Delete them", message_of_elements},
                          {"pruned weights", "Make the pruning permanent", message_of_pruned}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL424", "input_kept_by_owner", Severity::warning, at_run_time};

}  // namespace xleak::monitor::smells::input_kept_by_owner
