#pragma once
#include <cstdint>

namespace xleak::monitor::source {

/// What a node of the tree is. Parentheses, punctuation and annotations have no node.
enum class Kind : std::uint8_t {
  other,
  cell,
  block,
  expression_statement,
  assign,            ///< left, right; right is absent for a bare annotation
  augmented_assign,  ///< left, right, op
  for_loop,          ///< left, right, body, alternative
  while_loop,        ///< condition, body, alternative
  if_branch,         ///< condition, body, alternative…; an elif is one too
  else_branch,       ///< body
  with_block,        ///< item…, body
  try_block,         ///< body, handlers, else_branch, finally_branch
  except_branch,     ///< item, body
  finally_branch,    ///< body
  function,          ///< decorators, parameters, body; name
  class_definition,  ///< decorators, argument…, body; name
  decorator,
  parameters,
  parameter,  ///< name; right is the default
  return_statement,
  raise_statement,
  assert_statement,
  delete_statement,
  global_statement,
  import_statement,
  alias,  ///< name is what it binds, dotted what that is
  pass_statement,
  break_statement,
  continue_statement,
  name,
  attribute,  ///< object; name
  call,       ///< callee, argument…
  keyword,    ///< right; name
  subscript,  ///< object, argument…
  slice,
  integer,
  floating,
  string,
  format_string,
  true_literal,
  false_literal,
  none,
  ellipsis,
  list,
  tuple,
  dict,
  pair,
  set,
  comprehension,  ///< of a list, set or dict, or a generator: body, comprehension_for, …
  comprehension_for,
  comprehension_if,
  lambda,
  binary,
  boolean,
  unary,
  negation,
  comparison,
  conditional,  ///< value, condition, other value
  await,
  yield,
  starred,
  named_expression,  ///< left, right
  as_pattern,        ///< expression, target
  as_target,
};

/// What a node is to its parent.
enum class Field : std::uint8_t {
  none,
  left,
  right,
  body,
  condition,
  alternative,
  item,
  object,
  callee,
  argument,
  parameters,
  decorator,
};

enum class Operator : std::uint8_t { none, add, subtract, multiply, divide, modulo, matmul, other };

constexpr std::uint32_t kNone = 0xffffffff;

/// How a variable gets its value.
enum class Bound : std::uint8_t {
  assign,
  augmented,
  loop,
  with,
  exception,
  import,
  function,
  class_definition,
  parameter,
  deleted,
};

}  // namespace xleak::monitor::source
