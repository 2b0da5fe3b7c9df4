// A file that is opened and never closed keeps its descriptor and what was not written yet.
#include <algorithm>
#include <string>

#include "holder_findings.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::file_left_open {
namespace {

using source::Bound;
using source::Kind;

List<Call> openings_of(const SourceView& code) {
  return code.calls_to({"builtins.open", "io.open", "codecs.open", "gzip.open", "bz2.open",
                        "lzma.open", "tarfile.open", "zipfile.ZipFile", "h5py.File",
                        "tensorflow.io.gfile.GFile", "tensorflow.io.TFRecordWriter",
                        "cv2.VideoCapture", "cv2.VideoWriter",
                        "torch.utils.tensorboard.SummaryWriter", "tensorboardX.SummaryWriter"});
}

// Others are often kept open on purpose, to be read piece by piece, or end with the process.
bool is_plain_file(const Call& opening) {
  return opening.callee().is_dotted(
      {"builtins.open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"});
}

// What takes a mode after the path, and reads where none is given.
bool takes_mode(const Call& opening) {
  return is_plain_file(opening) ||
         opening.callee().is_dotted(
             {"tarfile.open", "zipfile.ZipFile", "h5py.File", "tensorflow.io.gfile.GFile"});
}

// Nothing can be lost of what was never written; another mode may be for both.
bool is_for_reading(const Call& opening) {
  if (opening.callee().is_dotted({"cv2.VideoCapture"})) return true;
  if (!takes_mode(opening)) return false;
  const Expr mode = opening.argument("mode", 1);
  if (!mode) {
    const auto given = opening.children();
    return std::none_of(given.begin(), given.end(),
                        [](const Expr& each) { return each.is(Kind::starred); });
  }
  return mode.is(Kind::string) && mode.string().find_first_of("wax+") == std::string_view::npos;
}

// OpenCV's have no `with`.
std::string end_of(const Call& opening, const std::string& name) {
  if (opening.callee().is_dotted({"cv2.VideoCapture", "cv2.VideoWriter"})) {
    return "Call `" + name + ".release()` in a `finally`.";
  }
  return "Write `with " + std::string(opening.callee().text()) + "(…) as " + name + ":`.";
}

bool is_end(const Call& call) {
  const std::string_view method = call.method();
  return method == "close" || method == "release" || method == "__exit__" ||
         method == "__enter__" || method == "detach";
}

bool is_reading(const Call& user, const Expr& handle) {
  return user.receiver() == handle ||
         user.callee().is_dotted(
             {"json.load",       "json.dump",      "pickle.load",    "pickle.dump",
              "yaml.safe_load",  "yaml.load",      "yaml.dump",      "csv.reader",
              "csv.writer",      "csv.DictReader", "csv.DictWriter", "builtins.print",
              "numpy.load",      "numpy.save",     "builtins.list",  "builtins.enumerate",
              "builtins.len",    "builtins.sum",   "builtins.next",  "builtins.map",
              "builtins.sorted", "builtins.set",   "builtins.zip",   "joblib.load",
              "joblib.dump",     "toml.load",      "tomllib.load"});
}

bool is_with_item(const Expr& value) {
  const Expr above = value.parent();
  return above.is(Kind::with_block) ||
         (above.is(Kind::as_pattern) && above.parent().is(Kind::with_block));
}

/// What the program does with a handle that has a name.
struct Fate {
  bool ends = false;      ///< It is closed.
  bool goes_on = false;   ///< It is handed to somebody who may close it.
  bool is_simple = true;  ///< It is only read or written, here.
};

bool is_handed_on(const Expr& use) {
  const Expr above = use.parent();
  if (above.is(Kind::return_statement) || above.is(Kind::yield) || above.is(Kind::tuple) ||
      above.is(Kind::list) || above.is(Kind::pair) || above.is(Kind::assign)) {
    return true;
  }
  const Call call = above.is(Kind::keyword) ? above.parent().as_call() : above.as_call();
  return call && call.callee() != use && !is_reading(call, use);
}

Fate fate_of(const Place& handle) {
  Fate fate;
  for (const Expr& use : handle.uses()) {
    const Call method = use.parent().parent().as_call();
    if (method && method.receiver() == use && is_end(method)) fate.ends = true;
    const bool is_method = method && method.receiver() == use;
    const std::string_view name = use.parent().is(Kind::attribute) ? use.parent().name() : "";
    if (!is_method && !name.empty()) fate.is_simple = false;
    // `atexit.register(log.close)`; a descriptor may be anybody's.
    if (name == "close" || name == "release" || name == "fileno") fate.ends = true;
    if (is_with_item(use)) fate.ends = true;
    if (is_handed_on(use)) fate.goes_on = true;
    const Call reader = use.parent().as_call();
    const std::string_view dotted = reader.callee().dotted();
    // These go on reading later, under another name.
    if (dotted.substr(0, 4) == "csv." || dotted == "builtins.map" || dotted == "builtins.zip")
      fate.is_simple = false;
  }
  const auto bindings = handle.bindings();
  fate.ends |= std::any_of(bindings.begin(), bindings.end(), [](const PlaceBinding& binding) {
    return binding.how == Bound::parameter;
  });
  return fate;
}

// Closes the handle behind the last statement that uses it, beside the one that opened it.
void add_fix(const Call& opening, const Place& handle, Finding& finding) {
  const Expr block = opening.statement().parent();
  Expr last = opening.statement();
  for (const Expr& use : handle.uses()) {
    if (!use.is_inside(block)) return;
    for (const Expr& statement : block.children()) {
      if (use.is_inside(statement) && last < statement) last = statement;
    }
  }
  for (const PlaceBinding& binding : handle.bindings()) {
    if (binding.target != opening.target() && binding.target.is_inside(block)) return;
  }
  const auto edit = last.line_after(std::string(handle.name()) + ".close()");
  if (!edit || last.is(Kind::function) || last.is(Kind::return_statement)) return;
  finding.fixes.push_back({"Close it behind its last use", "", {*edit}});
}

constexpr const char* kMayBeLost = ", and what was written last may not be in it";

Finding of_name(const Call& opening, const Place& handle) {
  const std::string name(handle.name());
  return opening.finding("`" + name + "` is never closed: the file stays open as long as the name" +
                         (is_for_reading(opening) ? "" : kMayBeLost) + ". " +
                         end_of(opening, name));
}

void add_named(const Call& opening, std::vector<Finding>& findings) {
  const Expr target = opening.target();
  const Place handle = target.place();
  if (!handle || handle.is_attribute() || !target.is(Kind::name)) return;
  const Fate fate = fate_of(handle);
  if (fate.ends || fate.goes_on) return;
  Finding finding = of_name(opening, handle);
  // A function's own name goes when it returns, and CPython closes the file then.
  const bool stays = handle.is_module_level() && is_plain_file(opening);
  if (!stays) finding.severity = Severity::note;
  if (fate.is_simple && is_plain_file(opening)) add_fix(opening, handle, finding);
  findings.push_back(std::move(finding));
}

// `json.load(open(path))`, `open(path).read()`
void add_chained(const Call& opening, std::vector<Finding>& findings) {
  const Expr above = opening.parent();
  const bool is_read = above.is(Kind::attribute) && above.parent().is(Kind::call) &&
                       !is_end(above.parent().as_call());
  const Call reader = above.as_call();
  if (!is_read && !(reader && is_reading(reader, opening))) return;
  Finding finding = opening.finding(
      "This file has no name to close it by: it is closed when the object goes, at the latest "
      "with the next collection. Open it in a `with`.");
  finding.severity = Severity::note;
  findings.push_back(std::move(finding));
}

bool closes_elements(const SourceView& code, const Place& container) {
  for (const Call& call : code.calls_of({"close", "release", "enter_context"})) {
    for (const Loop& loop : call.loops()) {
      if (loop.iterable().mentions(container)) return true;
    }
  }
  return false;
}

void add_kept(const SourceView& code, std::vector<Finding>& findings) {
  for (const Store& store : code.stores()) {
    const Call opening = store.value.as_call();
    if (!opening || !is_plain_file(opening)) continue;
    if (!store.site.is(Kind::comprehension) && !store.site.in_loop()) continue;
    if (code.is_bounded(store) || closes_elements(code, store.container.place())) continue;
    findings.push_back(opening.finding(
        "Each iteration opens one more file and `" + std::string(store.container.text()) +
        "` keeps it open: the process runs out of descriptors. Read what is needed inside a "
        "`with`, or enter each into a `contextlib.ExitStack`."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const auto openings = openings_of(code);
  if (openings.empty()) return findings;
  for (const Call& opening : openings) {
    if (is_with_item(opening)) continue;
    if (opening.target()) {
      add_named(opening, findings);
    } else if (is_plain_file(opening)) {
      add_chained(opening, findings);
    }
  }
  add_kept(code, findings);
  return findings;
}

// Descriptors and buffers are in no counter.
constexpr std::int64_t kBytesUnknown = 0;

std::string left_by_runs(const Holder& holder, const char* lost) {
  return "Each run of the cell left files open: " + std::to_string(holder.count) +
         " by now, such as " + holder.largest + ". Each keeps a descriptor" + lost +
         ". Open them in a `with`.";
}

std::string of_runs(const Holder& holder) { return left_by_runs(holder, ""); }

std::string of_writing_runs(const Holder& holder) { return left_by_runs(holder, kMayBeLost); }

std::string of_many(const Holder& holder) {
  return "The cell left " + std::to_string(holder.count) + " files open, such as " +
         holder.largest +
         ", and none was read or written during the last cells. Each keeps one of the about "
         "thousand descriptors of a process. Open them in a `with`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  constexpr const char* kTitle = "Close those of the earlier runs";
  const HolderRule read{"files of runs", kTitle, of_runs, 0, kBytesUnknown};
  const HolderRule written{"written files of runs", kTitle, of_writing_runs, 0, kBytesUnknown};
  // There is no end to what each run adds to.
  return holder_findings(session, {read.as(Severity::error),
                                   written.as(Severity::error),
                                   {"files", "Close them", of_many, 0, kBytesUnknown}});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL505", "file_left_open", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::file_left_open
