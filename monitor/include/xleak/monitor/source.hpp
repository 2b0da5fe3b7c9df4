#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xleak/monitor/smell.hpp"
#include "xleak/monitor/syntax_kind.hpp"

namespace xleak::monitor {

namespace source {
struct Program;
}

/// One code cell, or one file, as its author wrote it.
struct SourceCell {
  std::string text;
  int index = 1;       ///< What findings call it: code cells count from 1.
  int first_line = 1;  ///< Where it begins in its file; 1 for a notebook's.
  std::vector<std::string> tags = {};
  /// The name under which the program imports it, `utils.train`: a file beside the notebook. Empty
  /// for the program itself, whose cells come after all modules.
  std::string module = {};
  /// Where the relative imports of a module begin: `utils`.
  std::string package = {};
};

/// What a value is, as far as the source tells. Unknown is the rule, not the exception.
enum class ValueType : std::uint8_t {
  unknown,
  nothing,
  number,
  text,
  tensor,         ///< Of PyTorch.
  model_output,   ///< What a model of Hugging Face returns: its attributes are tensors.
  array,          ///< Of NumPy, or a table of pandas.
  module,         ///< An instance of torch.nn.Module.
  loss_function,  ///< An instance of torch.nn.*Loss.
  optimizer,
  loader,
  list,
  dict,
  set,
  tuple,
  deque,
  keras_model,
  keras_layer,
  keras_tensor,  ///< What keras.Input and layers called on it return.
  tf_tensor,
  dataset,   ///< A tf.data.Dataset.
  instance,  ///< Of a class of the program that is none of the above.
};

/// Whether a value carries an autograd graph, as far as the source says.
enum class HasGraph : std::uint8_t { no, unknown, yes };

/// The abstract value of an expression.
struct Value {
  ValueType type = ValueType::unknown;
  HasGraph graph = HasGraph::no;  ///< Whether it carries an autograd graph.
  bool leaf = false;              ///< It requires a gradient and has no graph behind it.
  bool loss = false;              ///< It is a loss.
  bool on_device = false;         ///< It was moved to, or made on, an accelerator.
  /// That it is a tensor, or a module, is likely: enough for a sentence, too little for an edit.
  bool is_guessed = false;
  std::uint32_t origin = source::kNone;  ///< The call that made it.

  bool is_tensor() const { return type == ValueType::tensor || type == ValueType::model_output; }
  /// Keeping it keeps the activations of its forward pass.
  bool is_gradful() const { return is_tensor() && graph == HasGraph::yes && !leaf; }
};

/// Whether a name is in a list of names.
inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What answers beyond its end with an absent one: half-written code has fewer parts than a rule
/// counts on.
template <typename T>
class List : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  const T& operator[](std::size_t index) const {
    static const T absent{};
    return index < this->size() ? *(this->data() + index) : absent;
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[this->size() - 1]; }
};

class Call;
class Place;
class Loop;
class Function;

/// A spot in the source. Cheap to copy; an absent one is false and answers every question with no.
class Expr {
 public:
  Expr() = default;
  Expr(const source::Program* program, std::uint32_t node) : program_(program), node_(node) {}
  explicit operator bool() const { return node_ != source::kNone; }
  bool operator==(const Expr& other) const { return node_ == other.node_; }
  bool operator!=(const Expr& other) const { return node_ != other.node_; }
  /// In the order of the code, over all cells.
  bool operator<(const Expr& other) const { return node_ < other.node_; }

  std::uint32_t id() const { return node_; }
  source::Kind kind() const;
  source::Operator op() const;
  bool is(source::Kind kind) const { return *this && this->kind() == kind; }
  int cell() const;
  int line() const;
  Lines lines() const;
  std::string_view text() const;
  /// The identifier of a name, attribute, keyword, function or class.
  std::string_view name() const;
  /// What imports make of a name or attribute: "torch.nn.Linear" for `nn.Linear`; else empty.
  std::string_view dotted() const;
  bool is_dotted(std::initializer_list<std::string_view> names) const;
  Place place() const;
  /// What its elements and what its methods return belong to: `c` for `c[k].setdefault(n, [])`.
  Expr root() const;
  /// The functions of the program that it may be: a lambda, a name or method, `partial(f)`, what a
  /// factory returns.
  List<Function> functions() const;
  Value value() const;
  /// A loss, or a tensor that was reduced to one number.
  bool is_loss_like() const;
  /// It is one number, so that `.item()` has it. False where that cannot be known.
  bool is_scalar() const;
  /// The call that made its value, through names, `.to()` and their like.
  Call made_by() const;

  Expr parent() const;
  /// The nearest of this kind around it, itself not included.
  Expr enclosing(source::Kind kind) const;
  Expr child(source::Field field) const;
  List<Expr> children() const;
  Expr first_child() const;
  Expr last_child() const;
  /// All below it that are of this kind, itself included.
  List<Expr> all(source::Kind kind) const;
  bool is_inside(Expr other) const;
  bool mentions(Place place) const;
  Call as_call() const;
  Loop as_loop() const;
  bool is_literal() const;
  bool is_true() const;
  bool is_false() const;
  std::optional<long long> integer() const;
  /// The whole number that it always is: `4`, or `k + 1` where `k = 3` is all that binds k.
  std::optional<long long> constant() const;
  /// The text of a string literal without its quotes; empty for anything else.
  std::string_view string() const;

  /// The innermost statement that it belongs to.
  Expr statement() const;
  /// The assignment on whose right side it stands.
  Expr assignment() const;
  /// Loops and comprehensions whose body it is in, the innermost first, up to its function.
  List<Loop> loops() const;
  Function function() const;
  /// The method that it is in, also where functions or lambdas of the method lie between.
  Function enclosing_method() const;
  /// The first parameter of that method.
  Place self() const;
  /// The class whose body it is in, through its methods.
  Expr class_definition() const;
  /// Of a class: the calls of its name.
  List<Call> constructors() const;
  bool at_top_level() const;
  /// It stands in a file that the program imports: its top level runs once.
  bool is_of_module() const;
  /// It is in loops, and the source says of each that it turns at most this often.
  bool loops_run_at_most(long long iterations) const;
  /// LOOP: it runs many times, in a loop or in a function that is called in one.
  bool in_loop() const;
  /// NOGRAD: what is computed here carries no graph.
  bool under_no_grad() const;
  /// It runs in some iterations only: `if step % 100 == 0:`, `if not done:`.
  bool is_guarded() const;
  /// Something around it may switch gradients off: a context or decorator that speaks of them.
  bool may_be_under_no_grad() const;
  /// Batches of data: a DataLoader, or a name such as `train_loader`.
  bool is_loader_like() const;
  /// It says where tensors lie: "cuda:0", torch.device(…), `x.device`, `device`.
  bool names_device() const;

  /// A finding at its line. message: what is wrong and what to do, in a sentence or two.
  Finding finding(std::string message) const;
  Edit replaced_by(std::string text) const;
  Edit followed_by(std::string text) const;
  /// The same value, as `value.detach()`. Nothing where it may be no tensor after all, or is a key
  /// or an element of a set, which is found again by its identity.
  std::optional<Edit> detached() const;
  /// A line of its own above its statement and the comments that explain it, or below it; indented
  /// like it. Nothing where the statement shares its lines with others.
  std::optional<Edit> line_before(std::string_view code) const;
  std::optional<Edit> line_after(std::string_view code) const;
  /// Of a function or class: one more decorator, above the others.
  std::optional<Edit> decorated_by(std::string_view decorator) const;

 protected:
  friend class Place;
  friend class SourceView;
  const source::Program* program_ = nullptr;
  std::uint32_t node_ = source::kNone;
};

class Call : public Expr {
 public:
  using Expr::Expr;
  Expr callee() const;
  /// What the method is called on: `x` in `x.append(y)`.
  Expr receiver() const;
  std::string_view method() const;
  List<Expr> arguments() const;
  Expr keyword(std::string_view name) const;
  /// By its name, else by its position.
  Expr argument(std::string_view name, int position) const;
  /// The name, attribute or element that the result is assigned to.
  Expr target() const;
  /// The result goes nowhere.
  bool is_discarded() const;
  /// `x.cuda()`, `x.to(device)`; not `x.to(dtype)`, not `x.cpu()`.
  bool moves_to_device() const;
  /// The functions of the program that it may call.
  List<Function> callees() const;
};

class Loop : public Expr {
 public:
  using Expr::Expr;
  Expr target() const;
  Expr iterable() const;
  Expr body() const;
  /// Where it asks for the next iteration.
  Lines head() const;
  /// How often it turns at most, where the source says it: `range(5)`, a literal list.
  std::optional<long long> iterations() const;
  /// It runs once a batch: over a loader, or with `batch` for its variable.
  bool is_over_data() const;
  /// A name in the expression is bound in the loop: it may differ from iteration to iteration.
  bool changes(Expr expression) const;
  /// Over layers, parameters or a few literal parts, not over data.
  bool is_over_parts() const;
};

class Function : public Expr {
 public:
  using Expr::Expr;
  Expr body() const;
  List<Expr> parameters() const;
  List<Expr> decorators() const;
  List<Expr> returned() const;
  List<Call> call_sites() const;
  bool is_method() const;
};

struct PlaceBinding {
  source::Bound how = source::Bound::assign;
  Expr target;
  Expr value;
  int position = -1;  ///< Which element of the value it gets; -1 is the whole.
};

/// A variable, or an attribute such as `self.losses`.
class Place {
 public:
  Place() = default;
  Place(const source::Program* program, std::uint32_t id) : program_(program), id_(id) {}
  explicit operator bool() const { return id_ != source::kNone; }
  bool operator==(const Place& other) const { return id_ == other.id_; }
  bool operator!=(const Place& other) const { return id_ != other.id_; }

  std::uint32_t id() const { return id_; }
  std::string_view name() const;
  List<PlaceBinding> bindings() const;
  List<Expr> uses() const;
  /// Calls of one of these methods on it, anywhere in the program.
  List<Call> calls_of(std::initializer_list<std::string_view> methods) const;
  /// Calls of itself: `model(x)`.
  List<Call> calls() const;
  /// Whose attribute it is.
  Place owner() const;
  bool is_attribute() const { return static_cast<bool>(owner()); }
  /// LONG-LIVED, seen from a spot: it outlives the function that the spot is in.
  bool outlives(Expr spot) const;
  bool is_module_level() const;

 private:
  const source::Program* program_ = nullptr;
  std::uint32_t id_ = source::kNone;
};

/// A value is put into a container: append, add, c[k] = v, c += [v], a comprehension.
struct Store {
  Expr site;       ///< The call or statement.
  Expr container;  ///< What it is put into; for a comprehension, what that is assigned to.
  Expr value;      ///< What is put there.
  Expr index;      ///< The k of c[k] = v.
};

/// Something is made from itself: `total += loss`, `x = torch.cat([x, part])`, `h = cell(h)`.
struct Update {
  Expr site;         ///< The statement.
  Expr target;       ///< The name, attribute or element.
  Expr value;        ///< The whole right side.
  List<Expr> added;  ///< The operands and arguments that are not the target itself.

  /// A sum, an average or a maximum; not what a layer makes of the value before.
  bool is_sum() const;
};

/// A line that IPython runs and Python does not know.
struct MagicLine {
  int cell = 0;
  int line = 0;
  std::string name;  ///< "env" of %env, "!" of a command of the shell.
  std::string rest;

  /// A finding at this line.
  Finding finding(std::string message) const;
};

/// A program as rules see it: the notebook as one program, in the order of its cells.
class SourceView {
 public:
  explicit SourceView(std::vector<SourceCell> cells);
  ~SourceView();
  SourceView(const SourceView&) = delete;
  SourceView& operator=(const SourceView&) = delete;

  /// Calls of what these dotted names import, in the order of the code.
  List<Call> calls_to(std::initializer_list<std::string_view> dotted) const;
  /// Calls of methods with these names, whatever they are called on.
  List<Call> calls_of(std::initializer_list<std::string_view> methods) const;
  /// Calls below a spot, and in the functions that are called there, two levels deep.
  List<Call> calls_in(Expr spot) const;
  const List<Call>& calls() const;
  const List<Loop>& loops() const;
  const List<Function>& functions() const;
  const List<Expr>& classes() const;
  /// Assignments, augmented ones among them.
  const List<Expr>& assignments() const;
  /// `del` statements.
  const List<Expr>& deletions() const;
  const std::vector<Store>& stores() const;
  const std::vector<Update>& updates() const;
  const std::vector<MagicLine>& magics() const;
  /// The except clauses.
  const List<Expr>& handlers() const;
  /// What IPython shows: the value in the last line of a cell, without a `;` behind it.
  List<Expr> displayed() const;
  /// It has several cells: its top level runs piece by piece, and again.
  bool is_notebook() const;
  /// It imports something of this top-level package.
  bool uses(std::string_view package) const;
  /// This identifier is written somewhere: `tf_keras`, which uses() takes for Keras.
  bool has_name(std::string_view identifier) const;
  /// The dotted names of what it imports, from the top: `torch.nn` for `from torch import nn`.
  std::vector<std::string> imports() const;
  /// What the program calls this module or function: "tf" for "tensorflow"; empty where no import
  /// at the top level says so.
  std::string_view imported_as(std::string_view dotted) const;
  /// A class of the program is derived from one of these, perhaps through others.
  bool is_derived(Expr class_definition, std::initializer_list<std::string_view> dotted) const;
  /// BOUNDED: something takes elements out again, or the container has a limit.
  bool is_bounded(const Store& store) const;
  /// A replay or rollout memory, by its name or by a `sample` method of its class.
  bool is_replay_memory(const Store& store) const;
  /// A class derived from torch.nn.Module or from what is one.
  bool is_module_class(Expr class_definition) const;
  /// Its instances keep tensors, arrays or modules as attributes.
  bool owns_data(Expr class_definition) const;
  /// In a module's `forward` or `training_step`, or in a method that these call.
  bool runs_in_forward(Expr spot) const;
  /// The value is put there as `value.detach()`. Nothing where Expr::detached() has nothing, and
  /// for a set.
  std::optional<Edit> detached(const Store& store) const;
  /// LONG-LIVED: the container outlives the function that stores, or lies at the top level.
  bool is_long_lived(const Store& store) const;
  /// Something that was made of it is backpropagated: `(total / n).backward()`.
  bool reaches_backward(Place place) const;
  /// The same, or it cannot be excluded: a forward pass returns it, or a function whose callers are
  /// not in the program.
  bool may_reach_backward(Place place) const;
  /// For what is read beside the rules: remarks, the lines of IPython.
  const source::Program& program() const { return *program_; }

 private:
  std::unique_ptr<source::Program> program_;
};

}  // namespace xleak::monitor
