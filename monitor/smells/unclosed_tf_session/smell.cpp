// A session of TensorFlow 1 is opened and never closed.
#include "holder_findings.hpp"
#include "source/tensorflow.hpp"

namespace xleak::monitor::smells::unclosed_tf_session {
namespace {

using source::Bound;
using source::Kind;

bool is_with_item_of_name(const Expr& use) {
  return use.parent().is(Kind::with_block) ||
         (use.parent().is(Kind::as_pattern) && use.parent().parent().is(Kind::with_block));
}

// `sess.close()`, `with sess:`, `stack.enter_context(sess)`, `closing(sess)`.
bool is_closed(const Place& session) {
  if (!session.calls_of({"close", "__exit__"}).empty()) return true;
  for (const Expr& use : session.uses()) {
    if (is_with_item_of_name(use)) return true;
    const Call taker = use.parent().as_call();
    if (!taker) continue;
    if (taker.callee().is_dotted({"contextlib.closing"}) || taker.method() == "enter_context" ||
        taker.callee().is_dotted({"atexit.register"}))
      return true;
  }
  return false;
}

bool is_returned(const Place& session, const Expr& site) {
  for (const Expr& value : site.function().returned()) {
    if (value.mentions(session)) return true;
  }
  return false;
}

// It becomes part of something else, which may close it.
bool is_given_away(const Place& session) {
  for (const Expr& use : session.uses()) {
    const Expr user = use.parent();
    if (user.is(Kind::assign) && user.child(source::Field::right) == use) return true;
    const Call taker = user.is(Kind::keyword) ? user.parent().as_call() : user.as_call();
    if (!taker || taker.callee() == use) continue;
    const std::string_view name = taker.callee().name();
    const bool makes_instance = !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
    if (makes_instance || name == "set_session" || name == "append") return true;
  }
  return false;
}

// What is not assigned to a name is handed on, such as `K.set_session(tf.Session())`, or run and
// dropped; only InteractiveSession stays by itself.
bool is_open(const Call& made) {
  if (tensorflow::is_with_item(made)) return false;
  const Place session = made.target().place();
  if (!session)
    return made.is_discarded() && made.callee().is_dotted({"tensorflow.InteractiveSession"});
  return !is_closed(session) && !is_returned(session, made) && !is_given_away(session);
}

// Where the last use stands in the same block, the session can be closed below it.
std::optional<Edit> closing(const Call& made) {
  const Expr opened = made.statement();
  Expr last = opened;
  for (const Expr& use : made.target().place().uses()) {
    Expr at = use.statement();
    while (at && at.parent() != opened.parent()) at = at.parent().statement();
    if (!at) return std::nullopt;
    last = at;
  }
  if (last.is(Kind::return_statement)) return std::nullopt;
  return last.line_after(std::string(made.target().text()) + ".close()");
}

// A plain session goes with the last name that has it; an interactive one is entered and stays.
Severity severity_of(const Call& made, const Place& session) {
  const bool stays = made.callee().is_dotted({"tensorflow.InteractiveSession"});
  if (session.is_attribute()) return Severity::note;
  if (stays && made.in_loop()) return Severity::error;
  return stays || made.in_loop() || !made.function() ? Severity::warning : Severity::note;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("tensorflow")) return findings;
  for (const Call& made : code.calls_to({"tensorflow.Session", "tensorflow.InteractiveSession"})) {
    if (!is_open(made)) continue;
    Finding finding = made.finding(
        "This session is never closed: it keeps its variables and threads, and its share of the "
        "device, until the process ends. Open it in a `with` block, or close it when it is done.");
    const Place session = made.target().place();
    finding.severity = severity_of(made, session);
    if (const auto edit = session.is_attribute() || !session ? std::nullopt : closing(made))
      finding.fixes.push_back({"Close it after its last use", "", {*edit}, /*safe=*/false});
    findings.push_back(std::move(finding));
  }
  return findings;
}

// What a session keeps lies outside of what is measured.
constexpr std::int64_t kBytesUnknown = 0;

std::string named(const Holder& holder) {
  return "`" + holder.label + "`, a " + holder.largest +
         " of TensorFlow, is open, and the last cells did not use it: it keeps its variables, "
         "threads and part of the device. Close it with `" +
         holder.release + "`, or open it in a `with` block.";
}

std::string lost(const Holder& holder) {
  const std::string what = holder.count == 1 ? "An InteractiveSession is open that no name has"
                                             : std::to_string(holder.count) +
                                                   " InteractiveSessions are open that no name has";
  return what +
         ": TensorFlow keeps it as the default, with its variables and threads. Call `close()` "
         "before its name goes, or use `with tf.compat.v1.Session() as sess:`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  return holder_findings(session, {{"session", "close it", named, 0, kBytesUnknown},
                                   {"lost sessions", "close them", lost, 0, kBytesUnknown}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL506", "unclosed_tf_session", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::unclosed_tf_session
