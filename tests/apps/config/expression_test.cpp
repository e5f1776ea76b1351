#include "apps/config/expression.h"

#include <boost/test/unit_test.hpp>

namespace troupe::config::expression_test {
namespace {

std::string show(const Expression& expression);

std::string show_literal(const Expression& expression) {
  if (const auto* text = std::get_if<std::string>(&expression.literal)) return "'" + *text + "'";
  if (const auto* integer = std::get_if<int64_t>(&expression.literal)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&expression.literal)) return std::to_string(*number);
  return std::get<bool>(expression.literal) ? "true" : "false";
}

/// Returns a tree as text: name@offset, (constructor@offset argument keyword=argument ...), [element ...].
std::string show(const Expression& expression) {
  std::string out = expression.keyword.empty() ? "" : expression.keyword + "=";
  std::string children;
  for (const auto& child : expression.children) children += (children.empty() ? "" : " ") + show(child);
  const std::string at = '@' + std::to_string(expression.offset);
  switch (expression.kind) {
    case Expression::Kind::Literal: return out + show_literal(expression);
    case Expression::Kind::Name: return out + expression.name + at;
    case Expression::Kind::Sequence: return out + '[' + children + ']';
    case Expression::Kind::Call:
      return out + '(' + expression.name + at + (children.empty() ? "" : " ") + children + ')';
  }
  return out;
}

std::string parsed(std::string_view text) {
  const auto result = parse_expression(text);
  if (const auto* error = std::get_if<SyntaxError>(&result))
    return std::to_string(error->offset) + ": " + error->text;
  return show(std::get<Expression>(result));
}

BOOST_AUTO_TEST_SUITE(expressions)

BOOST_AUTO_TEST_CASE(every_form_has_its_tree_and_offsets) {
  const std::pair<const char*, const char*> cases[] = {
      {"a", "a@0"},
      {" a ", "a@1"},
      {"relu(matmul(image, w1) + b1)", "(relu@0 (add@23 (matmul@5 image@12 w1@19) b1@25))"},
      {"a - b - c", "(sub@6 (sub@2 a@0 b@4) c@8)"},
      {"a - (b - c)", "(sub@2 a@0 (sub@7 b@5 c@9))"},
      {"a + b * c / d", "(add@2 a@0 (div@10 (mul@6 b@4 c@8) d@12))"},
      {"-a * b", "(mul@3 (neg@0 a@1) b@5)"},
      {"a * -b", "(mul@2 a@0 (neg@4 b@5))"},
      {"--a", "(neg@0 (neg@1 a@2))"},
      {"-2", "-2"},
      {"--2.5", "2.500000"},
      {".5 + 1e-3 + 5.", "(add@10 (add@3 0.500000 0.001000) 5.000000)"},
      {"a + 1 < b", "(less@6 (add@2 a@0 1) b@8)"},
      {"a <= b", "(less_equal@2 a@0 b@5)"},
      {"a > b", "(greater@2 a@0 b@4)"},
      {"a >= b", "(greater_equal@2 a@0 b@5)"},
      {"a == b", "(equal@2 a@0 b@5)"},
      {"a != b", "(not_equal@2 a@0 b@5)"},
      {"f()", "(f@0)"},
      {"f ( a , b )", "(f@0 a@4 b@8)"},
      {"f(a, axis = 1, keep=true)", "(f@0 a@2 axis=1 keep=true)"},
      {"f(a == b)", "(f@0 (equal@4 a@2 b@7))"},
      {"cast(x, 'float')", "(cast@0 x@5 'float')"},
      {"cast(x, \"float\")", "(cast@0 x@5 'float')"},
      {"[1, [a, -2], []]", "[1 [a@5 -2] []]"},
      {"truex", "truex@0"},
  };
  for (const auto& [text, expected] : cases)
    BOOST_TEST(parsed(text) == expected, text << ": " << parsed(text));
}

BOOST_AUTO_TEST_CASE(every_mistake_has_its_offset) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "0: expected a value; found the end"},
      {"a +", "3: expected a value; found the end"},
      {"a b", "2: expected an operator or the end; found 'b'"},
      {"a < b < c", "6: expected an operator or the end; found '<'"},
      {"f(a,)", "4: expected a value; found ')'"},
      {"f(a", "3: expected ',' or ')'; found the end; the '(' behind 'f' is not closed"},
      {"f(a b)", "4: expected ',' or ')'; found 'b'"},
      {"(a", "2: expected ')'; found the end; its first bracket is not closed"},
      {"[1", "2: expected ',' or ']'; found the end; its first bracket is not closed"},
      {"f(a=)", "4: expected a value; found ')'"},
      {"1.2.3", "3: expected the end of the number; found '.'"},
      {"12abc", "2: expected the end of the number; found 'a'; a number has no letter at its end"},
      {"'abc", "4: the quotes are not closed; found the end"},
      {"a @ b", "2: expected an operator or the end; found '@'; write matmul(a, b)"},
      {"\xc3\xa9", "0: expected a value; found '\xc3\xa9'"},
      {"1 + 99999999999999999999", "4: the number is out of range"},
      {"1e999", "0: the number is out of range"},
  };
  for (const auto& [text, expected] : cases)
    BOOST_TEST(parsed(text) == expected, text << ": " << parsed(text));
}

std::string repeated(std::string_view part, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += part;
  return out;
}

BOOST_AUTO_TEST_CASE(hostile_sizes_are_refused) {
  BOOST_TEST(parsed(repeated("(", 5000)) == "0: the expression is nested too deeply");
  BOOST_TEST(parsed(repeated("f(", 5000)) == "0: the expression is nested too deeply");
  BOOST_TEST(parsed(repeated("-", 5000) + "a").ends_with(": the expression is nested too deeply"));
  BOOST_TEST(parsed(repeated("a+", 5000) + "a").ends_with(": the expression is nested too deeply"));
  BOOST_TEST(parsed(repeated("a", 20000)) == "0: the expression is longer than 16384 bytes");
  BOOST_TEST(parsed(std::string("a\0b", 3)).starts_with("1: "));
  BOOST_TEST(
      std::holds_alternative<Expression>(parse_expression(repeated("f(", 90) + "a" + repeated(")", 90))));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::config::expression_test
