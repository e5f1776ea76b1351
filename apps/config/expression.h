// Expressions of run files: "relu(matmul(image, w1) + b1)", parsed to a tree that knows where in the string
// each part stands.
//   calls        name(a, b, keyword=c)          operators   + - * / and < <= > >= == != (not chained), unary
//   -, parentheses literals     1  2.5e-3  'text'  "text"  true  false  [1, 2, [3]]            names letters,
//   digits and '_'
// An operator is a call of the constructor of that name (add, sub, mul, div, neg, less, ...). Plain values,
// no op is looked up here.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe::config {

struct Expression {
  enum class Kind : uint8_t { Literal, Name, Sequence, Call };
  Kind kind = Kind::Literal;
  size_t offset = 0;    ///< bytes into the string; of an operator: its sign
  std::string name;     ///< of a Name, or the constructor of a Call
  std::string keyword;  ///< as an argument of a call: the parameter it names; empty: by position
  std::variant<int64_t, double, bool, std::string> literal;
  std::vector<Expression> children;  ///< elements of a Sequence, arguments of a Call
  int height = 1;                    ///< of the tree
};

struct SyntaxError {
  size_t offset = 0;
  std::string text;
};

inline constexpr size_t max_expression_bytes = 16384;
inline constexpr int max_expression_height = 200;

std::variant<Expression, SyntaxError> parse_expression(std::string_view text);

}  // namespace troupe::config
