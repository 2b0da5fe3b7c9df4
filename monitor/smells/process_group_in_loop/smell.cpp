// Process groups stay in a table of the process, with their threads and sockets.
#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::process_group_in_loop {
namespace {

using source::Kind;

// Threads, sockets and buffers of a group lie outside of what is measured.
constexpr std::int64_t kBytesUnknown = 0;

bool is_destroyed(const SourceView& code, const Call& group) {
  for (const Call& call : code.calls_to({"torch.distributed.destroy_process_group"})) {
    if (call.function() == group.function() || call.in_loop()) return true;
  }
  return false;
}

// Groups of all ranks are made in a loop by every process; what uses one at once makes it again for
// each use.
bool is_used_in(const SourceView& code, const Expr& body) {
  for (const Call& call : code.calls_in(body)) {
    if (call.method() == "backward") return true;
    const bool is_collective = call.callee().dotted().substr(0, 18) == "torch.distributed." &&
                               call.callee().dotted().find("new_") == std::string_view::npos;
    if (is_collective && (call.keyword("group") || call.keyword("process_group"))) return true;
  }
  return false;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  for (const Call& call :
       code.calls_to({"torch.distributed.new_group", "torch.distributed.new_subgroups",
                      "torch.distributed.new_subgroups_by_enumeration",
                      "torch.distributed.init_process_group", "torch.distributed.init_device_mesh",
                      "torch.distributed.device_mesh.init_device_mesh"})) {
    if (!call.in_loop() || call.is_guarded() || is_destroyed(code, call)) continue;
    bool is_used = false;
    for (const Loop& loop : call.loops()) {
      if (!loop.is(Kind::comprehension)) is_used |= is_used_in(code, loop.body());
    }
    if (call.loops().empty()) is_used = is_used_in(code, call.function().body());
    if (!is_used) continue;
    findings.push_back(call.finding(
        "`" + std::string(call.callee().text()) +
        "` makes a group for each iteration and nothing destroys it: its threads, sockets and "
        "buffers "
        "stay until the process ends. Make the groups before the loop, or end the iteration with "
        "`destroy_process_group(group)`."));
  }
  return findings;
}

std::string message(const Holder& holder) {
  return holder.largest + " of the cell left " + std::to_string(holder.count) +
         " process groups behind, with their threads and sockets. End each with "
         "`torch.distributed.destroy_process_group(group)` before its name goes, or make the "
         "groups "
         "in a cell of their own that runs once.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {"process groups", "", message, 0, kBytesUnknown});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL302", "process_group_in_loop", Severity::error, at_run_time, in_source};

}  // namespace xleak::monitor::smells::process_group_in_loop
