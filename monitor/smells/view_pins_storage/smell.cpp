// A slice is a view: as long as it lives, so does the whole of what it was cut from.
#include <algorithm>

#include "holder_findings.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::view_pins_storage {
namespace {

// A single view may be meant; several in one container are a pattern.
constexpr std::int64_t kWarningOfOne = 16 << 20;
// Longer code is shown in the fix alone.
constexpr std::size_t kShownCode = 100;

std::string copies(const Holder& holder, const char* what) {
  const bool is_short = !holder.release.empty() && holder.release.size() <= kShownCode;
  return std::string(" Keep ") + what + (is_short ? ": `" + holder.release + "`." : ".");
}

std::string message_of_one(const Holder& holder) {
  return "`" + holder.label + "` shows " + human(holder.shown_bytes) + " and keeps " +
         human(holder.held_bytes) + " alive: " + holder.largest + ", which no name reaches." +
         copies(holder, "a copy");
}

std::string message_of_several(const Holder& holder) {
  return std::to_string(holder.count) + " views in `" + holder.label + "` show " +
         human(holder.shown_bytes) + " and keep " + human(holder.held_bytes) +
         " alive: " + holder.largest + ", which no name reaches." + copies(holder, "copies");
}

std::string message_of_categories(const Holder& holder) {
  return "`" + holder.label + "` keeps " + human(holder.held_bytes) +
         " of categories that none of its rows has." +
         (holder.release.empty() ? " Take `.cat.remove_unused_categories()`."
                                 : " Let go of them with `" + holder.release + "`.");
}

std::vector<Finding> at_run_time(const SessionView& session) {
  HolderRule one{"view", "Put a copy in its place", message_of_one};
  HolderRule categories{"unused categories", "Let go of them", message_of_categories};
  for (HolderRule* rule : {&one, &categories}) {
    rule->severity = Severity::note;
    rule->warning_bytes = kWarningOfOne;
  }
  return holder_findings(
      session, {one, {"views", "Put copies in their places", message_of_several}, categories});
}

using source::Field;
using source::Kind;

// The text of an expression in a message ends here.
constexpr std::size_t kShown = 60;

struct View {
  Expr slice;
  bool by_numpy = false;   ///< `.numpy()` follows: a copy is `.copy()`.
  bool by_tensor = false;  ///< A method that only tensors have says what it is.
};

// Down through what copies nothing: `x[:2].detach()`.
View view_of(const Expr& value) {
  View view;
  Expr at = value;
  while (const Call call = at.as_call()) {
    if (!is_one_of(call.method(), {"detach", "numpy", "view", "squeeze", "unsqueeze"})) return {};
    view.by_numpy |= call.method() == "numpy";
    view.by_tensor |= call.method() == "detach" || call.method() == "unsqueeze";
    at = call.receiver();
  }
  if (at.is(Kind::attribute) && at.name() == "data") {
    view.by_tensor = true;
    at = at.child(Field::object);
  }
  if (at.is(Kind::subscript)) view.slice = at;
  return view;
}

// More rows than this may be most of them: `signal[:16000]` cuts off what is too long.
constexpr long long kFewRows = 64;

std::optional<long long> rows(std::string_view digits) {
  const std::size_t from = digits.find_first_not_of(' ');
  if (from == digits.npos) return std::nullopt;
  long long count = 0;
  for (const char c : digits.substr(from)) {
    if (c < '0' || c > '9' || count > kFewRows) return std::nullopt;
    count = 10 * count + (c - '0');
  }
  return count;
}

// `:4` and `-4:` are a few rows; `1:` and `:-1` are nearly all.
bool is_few(const Expr& index) {
  if (!index.is(Kind::slice)) return false;
  const std::string_view text = index.text();
  const std::size_t colon = text.find(':');
  const std::string_view start = text.substr(0, colon);
  const std::string_view stop = text.substr(colon + 1);
  const bool is_tail = stop.empty() && start.substr(0, 1) == "-";
  const auto count = rows(is_tail ? start.substr(1) : stop);
  return count && *count <= kFewRows;
}

// The first axis counts: `[:, :, :3]` may be three of four.
bool is_few_of(const Expr& slice) {
  const Expr whole = slice.child(Field::object);
  const auto parts = slice.children();
  if (parts.size() < 2) return false;
  const Expr index = parts[1];
  const auto axes = index.is(Kind::tuple) ? index.children() : List<Expr>{index};
  if (!axes.empty() && is_few(axes.front())) return true;
  // The first token stands for the sentence.
  const bool takes_one =
      (axes.size() > 1 && axes[1].integer()) || (parts.size() > 2 && parts[2].integer());
  return whole.name() == "last_hidden_state" && takes_one;
}

bool is_made_in(const Expr& object, const Loop& loop) {
  if (object.is(Kind::call)) return true;
  for (const PlaceBinding& binding : object.root().place().bindings()) {
    if (binding.target.is_inside(loop)) return true;
  }
  return object.is(Kind::attribute) && is_made_in(object.child(Field::object), loop);
}

bool is_kept_whole(const SourceView& code, const Expr& whole) {
  for (const Store& store : code.stores()) {
    if (whole.place() && store.value.place() == whole.place()) return true;
  }
  return false;
}

bool is_of_tensors(const View& view) {
  const ValueType type = view.slice.child(Field::object).value().type;
  return view.by_tensor || view.by_numpy || type == ValueType::tensor || type == ValueType::array;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  if (!code.uses("torch") && !code.uses("numpy")) return findings;
  for (const Store& store : code.stores()) {
    const View view = view_of(store.value);
    if (!view.slice || !is_few_of(view.slice) || !is_of_tensors(view)) continue;
    const auto loops = store.value.loops();
    const Expr whole = view.slice.child(Field::object);
    if (loops.empty() || !is_made_in(whole, loops.front()) || is_kept_whole(code, whole)) continue;
    if (store.index && store.container.root().value().type != ValueType::dict) continue;
    if (store.value.value().is_gradful() || loops.front().is_over_parts()) continue;
    if (!code.is_long_lived(store) || code.is_bounded(store)) continue;
    const bool is_array = view.by_numpy || store.value.value().type == ValueType::array;
    const std::string copy = is_array ? ".copy()" : ".clone()";
    Finding finding =
        store.value.finding("`" + std::string(store.value.text().substr(0, kShown)) +
                            "` is a view: `" + std::string(store.container.text()) +
                            "` keeps all of `" + std::string(whole.text().substr(0, kShown)) +
                            "` in memory for each. Keep its `" + copy + "`.");
    finding.fixes.push_back({"Keep a copy of the part", "", {store.value.followed_by(copy)}});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL118", "view_pins_storage", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::view_pins_storage
