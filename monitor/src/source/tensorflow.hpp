#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xleak/monitor/source.hpp"

/// What code written for TensorFlow and Keras does, asked by several rules.
namespace xleak::monitor::tensorflow {

bool is_used(const SourceView& code);

/// The program opens sessions of TensorFlow 1 or turns eager execution off.
bool is_graph_mode(const SourceView& code);

/// How often the loops around a spot iteration together; nothing where the source does not say.
std::optional<long long> iterations(const Expr& spot);

/// It runs more often than this: in a loop, or in a function called in one.
bool repeats(const Expr& spot, long long few);

/// The variable or attribute gets a value inside the spot.
bool is_bound_in(const Place& place, const Expr& spot);

/// It mentions something that is bound inside the spot.
bool depends_on(const Expr& expression, const Expr& spot);

/// `tf.function`, `tf.function(…)` or a `partial` of it.
bool is_tf_function(const Expr& decorator);

/// The decorator or call of `tf.function` that compiles the function; absent for plain Python.
Expr compiled_by(const SourceView& code, const Function& function);

/// The code runs as a graph: in a function that `tf.function` compiles, or inside one.
bool is_compiled(const SourceView& code, const Expr& spot);

/// The same, or in `call` of a Keras layer or model, which Keras compiles.
bool becomes_graph(const SourceView& code, const Expr& spot);

/// It adds an operation to the graph where there is one: `tf.matmul`, `tf.constant`.
bool is_operation(const Call& call);

bool is_with_item(const Call& call);

/// An array of NumPy or pandas that is read from a file, or visibly large.
bool is_large_array(const Expr& expression);

/// What the body has under this name is returned, put into a container, or given another name.
bool is_kept(const Place& place, const Expr& body);

/// A Keras model that is made again, and used, in each iteration of a loop.
struct ModelPerTurn {
  Expr site;        ///< The statement that makes it.
  Expr target;      ///< Its name.
  Expr body;        ///< Of the loop, or of the function that is called in one.
  bool is_cleared;  ///< Something in the loop, or around it, clears Keras's state.
};

/// Neither those that are kept on purpose nor those of few iterations.
std::vector<ModelPerTurn> models_per_iteration(const SourceView& code);

bool clears_session(const SourceView& code, const Expr& spot);

bool collects_garbage(const SourceView& code, const Expr& spot);

/// The program asks for a GPU, or sets one up.
bool sets_up_gpu(const SourceView& code);

/// The statement that a body begins with, after its docstring.
Expr first_statement(const Expr& body);

/// The call that clears Keras's state, as this program would write it; empty where no import helps.
std::string clear_session_call(const SourceView& code);

}  // namespace xleak::monitor::tensorflow
