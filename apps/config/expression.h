// Expressions of run files, such as "relu(matmul(image, w1) + b1)". They are parsed into a tree whose parts know their position in
// the string. An operator becomes a call of the constructor of its op (add, sub, mul, div, neg, less, ...). The parser does not
// look up ops. Plain values; any thread.
//   calls      name(a, b, keyword=c), of ops; nn.name(...), of layers; other names with dots are read, but nothing has them
//   operators  + - * / and < <= > >= == != (not chained), unary -, parentheses
//   literals   1  2.5e-3  'text'  "text"  true  false  [1, 2, [3]]
//   names      letters, digits and '_'
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe::config {

struct Expression {
  enum class Kind : uint8_t { Literal, Name, Sequence, Call };
  Kind kind = Kind::Literal;
  size_t offset = 0;    ///< position in the string, in bytes; for an operator, that of its sign
  std::string name;     ///< the name of a Name, or the constructor of a Call, or "nn." and a layer
  std::string keyword;  ///< for a named argument of a call, the parameter; otherwise empty
  std::variant<int64_t, double, bool, std::string> literal;
  std::vector<Expression> children;  ///< the elements of a Sequence, or the arguments of a Call
  int height = 1;                    ///< the height of the tree
};

struct SyntaxError {
  size_t offset = 0;
  std::string text;
};

inline constexpr size_t max_expression_bytes = 16384;
inline constexpr int max_expression_height = 200;

std::variant<Expression, SyntaxError> parse_expression(std::string_view text);

/// Returns the names in an expression; none if it has a syntax error.
std::set<std::string> names_in(std::string_view text);

}  // namespace troupe::config
