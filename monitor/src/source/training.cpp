// The words of training code: loaders, loops over batches, contexts that speak of gradients.
#include <algorithm>
#include <cctype>

#include "affix.hpp"
#include "source/program.hpp"

namespace xleak::monitor {
namespace {

using source::Field;
using source::Kind;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool contains(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

bool is_name_of_loader(std::string_view name) {
  const std::string text = lower(name);
  return ends_with(text, "loader") || ends_with(text, "loaders") || ends_with(text, "_dl") ||
         text == "dl" || ends_with(text, "dataiter") || ends_with(text, "data_iter");
}

// `with torch.no_grad() if frozen else nullcontext():`, `with self.inference():`.
bool speaks_of_gradients(const Expr& expression) {
  return contains(lower(expression.text()), {"grad", "infer", "eval"});
}

// What `enumerate(tqdm(loader))` goes through.
Expr unwrapped(Expr iterable) {
  for (Call call = iterable.as_call(); call; call = iterable.as_call()) {
    const auto arguments = call.arguments();
    const std::string_view dotted = call.callee().dotted();
    const bool wraps =
        dotted.substr(0, 4) == "tqdm" ||
        call.callee().is_dotted({"builtins.enumerate", "builtins.zip", "builtins.iter",
                                 "itertools.islice", "itertools.cycle"}) ||
        contains(lower(call.callee().text()), {"tqdm", "progress"});
    if (!wraps || arguments.empty()) break;
    iterable = arguments.front();
  }
  return iterable;
}

}  // namespace

bool Expr::may_be_under_no_grad() const {
  if (under_no_grad()) return true;
  for (Expr inner = *this, at = parent(); at; inner = at, at = at.parent()) {
    if (at.is(Kind::with_block) && inner == at.child(Field::body)) {
      for (const Expr& part : at.children()) {
        if (part != inner && speaks_of_gradients(part)) return true;
      }
    }
    if (!at.is(Kind::function)) continue;
    for (const Expr& decorator : Function(program_, at.id()).decorators()) {
      if (speaks_of_gradients(decorator)) return true;
    }
    return false;
  }
  return false;
}

bool Expr::is_loader_like() const {
  if (value().type == ValueType::loader) return true;
  const Expr what = is(Kind::subscript) ? child(Field::object) : *this;
  if (is_name_of_loader(what.name())) return true;
  return is_name_of_loader(as_call().method()) || is_name_of_loader(as_call().callee().name());
}

bool Loop::is_over_data() const {
  if (is(Kind::while_loop)) return false;
  const Expr over = unwrapped(iterable());
  if (over.is_loader_like() || over.value().type == ValueType::dataset) return true;
  const std::string text = lower(over.name().empty() ? over.as_call().method() : over.name());
  if (contains(text, {"batch"})) return true;
  for (const Expr& name : target().all(Kind::name)) {
    if (contains(lower(name.name()), {"batch"})) return true;
  }
  return false;
}

}  // namespace xleak::monitor
