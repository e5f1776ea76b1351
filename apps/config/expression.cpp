#include "apps/config/expression.h"

#include <algorithm>
#include <charconv>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>

#include "apps/config/foreign_names.h"

namespace troupe::config {
namespace {

namespace grammar {
// NOLINTBEGIN(readability-identifier-naming): rules are named as in the grammars of PEGTL
using namespace tao::pegtl;  // NOLINT: rules of a grammar are easier to read without qualified names

struct blank : star<space> {};
template <class Rule>
struct token : seq<Rule, blank> {};
struct sum;
struct comparison;

struct digits : plus<digit> {};
struct integer : seq<digits, not_at<one<'.', 'e', 'E'>>> {};
struct real : seq<sor<seq<digits, opt<one<'.'>, star<digit>>>, seq<one<'.'>, digits>>,
                  opt<one<'e', 'E'>, opt<one<'+', '-'>>, digits>> {};
struct number_end : not_at<sor<identifier_other, one<'.'>>> {};
struct number : seq<sor<integer, real>, must<number_end>> {};

template <char Quote>
struct characters : star<not_one<Quote>> {};
template <char Quote>
struct end_quote : one<Quote> {};
template <char Quote>
struct quoted : seq<one<Quote>, characters<Quote>, must<end_quote<Quote>>> {};

struct truth : seq<sor<TAO_PEGTL_STRING("true"), TAO_PEGTL_STRING("false")>, not_at<identifier_other>> {};
struct name : list<identifier, one<'.'>> {};

struct comma : token<one<','>> {};
struct close_list : token<one<']'>> {};
struct close_call : token<one<')'>> {};
struct close_group : token<one<')'>> {};
struct list_value : seq<token<one<'['>>, sor<at<one<']'>>, list<comparison, comma>>, must<close_list>> {};
struct keyword : identifier {};
struct named_argument : seq<token<keyword>, token<seq<one<'='>, not_at<one<'='>>>>, comparison> {};
struct callee : list<identifier, one<'.'>> {};
struct call : seq<token<callee>, token<one<'('>>,
                  sor<at<one<')'>>, list<sor<named_argument, comparison>, comma>>, must<close_call>> {};
struct group : seq<token<one<'('>>, comparison, must<close_group>> {};
struct atom : token<sor<number, quoted<'\''>, quoted<'"'>, truth, name>> {};
struct value : sor<call, list_value, group, atom> {};

struct minus : one<'-'> {};
struct factor : seq<star<token<minus>>, must<value>> {};
struct multiply : one<'*', '/'> {};
struct add : one<'+', '-'> {};
struct compare : sor<TAO_PEGTL_STRING("<="), TAO_PEGTL_STRING(">="), TAO_PEGTL_STRING("=="),
                     TAO_PEGTL_STRING("!="), one<'<', '>'>> {};
struct product : seq<factor, star<token<multiply>, factor>> {};
struct sum : seq<product, star<token<add>, product>> {};
struct comparison : seq<sum, opt<token<compare>, sum>> {};
struct end : eof {};
struct whole : seq<blank, comparison, must<end>> {};

/// The error message for a rule inside must<> that fails.
template <class Rule>
inline constexpr const char* expected = nullptr;
template <>
inline constexpr const char* expected<value> = "expected a value";
template <>
inline constexpr const char* expected<end> = "expected an operator or the end";
template <>
inline constexpr const char* expected<close_list> = "expected ',' or ']'";
template <>
inline constexpr const char* expected<close_call> = "expected ',' or ')'";
template <>
inline constexpr const char* expected<close_group> = "expected ')'";
template <>
inline constexpr const char* expected<number_end> = "expected the end of the number";
template <char Quote>
inline constexpr const char* expected<end_quote<Quote>> = "the quotes are not closed";
struct Expected {
  template <class Rule>
  static constexpr const char* message = expected<Rule>;
};
template <class Rule>
using control = must_if<Expected, normal, false>::control<Rule>;

template <class Rule>
using kept = parse_tree::selector<
    Rule,
    parse_tree::store_content::on<integer, real, characters<'\''>, characters<'"'>, truth, name, keyword,
                                  callee, minus, multiply, add, compare>,
    parse_tree::remove_content::on<list_value, call, named_argument, factor>,
    parse_tree::fold_one::on<product, sum, comparison>>;

// NOLINTEND(readability-identifier-naming)
}  // namespace grammar

using Node = tao::pegtl::parse_tree::node;

std::string_view constructor_of(std::string_view sign) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"+", "add"},    {"-", "sub"},         {"*", "mul"},     {"/", "div"},
      {"<", "less"},   {"<=", "less_equal"}, {">", "greater"}, {">=", "greater_equal"},
      {"==", "equal"}, {"!=", "not_equal"}};
  for (const auto& [known, name] : names)
    if (known == sign) return name;
  return {};
}

Expression convert(const Node& node);

Expression make(Expression::Kind kind, const Node& at, std::string name = {}) {
  Expression expression;
  expression.kind = kind;
  expression.offset = at.begin().byte;
  expression.name = std::move(name);
  return expression;
}

void adopt(Expression& parent, Expression child) {
  parent.height = std::max(parent.height, child.height + 1);
  if (parent.height > max_expression_height)
    throw SyntaxError{parent.offset, "the expression is nested too deeply"};
  parent.children.push_back(std::move(child));
}

Expression literal(const Node& node, decltype(Expression::literal) value) {
  auto expression = make(Expression::Kind::Literal, node);
  expression.literal = std::move(value);
  return expression;
}

template <class Number>
Expression number_literal(const Node& node) {
  const auto text = node.string_view();
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) throw SyntaxError{node.begin().byte, "the number is out of range"};
  return literal(node, value);
}

/// Converts a chain of operands and signs, such as a - b + c, from left to right.
Expression fold_left(const Node& node) {
  Expression left = convert(*node.children.front());
  for (size_t i = 1; i + 1 < node.children.size(); i += 2) {
    const Node& sign = *node.children[i];
    auto call = make(Expression::Kind::Call, sign, std::string(constructor_of(sign.string_view())));
    adopt(call, std::move(left));
    adopt(call, convert(*node.children[i + 1]));
    left = std::move(call);
  }
  return left;
}

/// Converts a value preceded by any number of minus signs. A number with signs becomes a literal.
Expression negate(const Node& node) {
  Expression value = convert(*node.children.back());
  for (size_t i = node.children.size() - 1; i-- > 0;) {
    const Node& sign = *node.children[i];
    if (auto* integer = std::get_if<int64_t>(&value.literal);
        value.kind == Expression::Kind::Literal && integer) {
      *integer = -*integer;
    } else if (auto* real = std::get_if<double>(&value.literal);
               value.kind == Expression::Kind::Literal && real) {
      *real = -*real;
    } else {
      auto call = make(Expression::Kind::Call, sign, "neg");
      adopt(call, std::move(value));
      value = std::move(call);
      continue;
    }
    value.offset = sign.begin().byte;
  }
  return value;
}

Expression convert(const Node& node) {
  using namespace grammar;  // NOLINT
  if (node.is_type<integer>()) return number_literal<int64_t>(node);
  if (node.is_type<real>()) return number_literal<double>(node);
  if (node.is_type<truth>()) return literal(node, node.string_view() == "true");
  if (node.is_type<name>()) return make(Expression::Kind::Name, node, node.string());
  if (node.is_type<characters<'\''>>() || node.is_type<characters<'"'>>())
    return literal(node, node.string());
  if (node.is_type<factor>()) return negate(node);
  if (node.is_type<named_argument>()) {
    Expression value = convert(*node.children[1]);
    value.keyword = node.children[0]->string();
    return value;
  }
  if (node.is_type<list_value>() || node.is_type<call>()) {
    const bool is_call = node.is_type<call>();
    auto expression = make(is_call ? Expression::Kind::Call : Expression::Kind::Sequence, node,
                           is_call ? node.children[0]->string() : "");
    for (size_t i = is_call ? 1 : 0; i < node.children.size(); ++i)
      adopt(expression, convert(*node.children[i]));
    return expression;
  }
  return fold_left(node);
}

/// Returns whether brackets are nested too deeply. The parser recurses only for brackets, so this bounds its use of the stack.
bool brackets_too_deep(std::string_view text) {
  const auto depth_after = [depth = 0](char c) mutable {
    return depth += (c == '(' || c == '[') - (c == ')' || c == ']');
  };
  constexpr int max_brackets = 100;
  return std::any_of(text.begin(), text.end(),
                     [&, step = depth_after](char c) mutable { return step(c) > max_brackets; });
}

std::string found(std::string_view text, size_t offset) {
  if (offset >= text.size()) return "; found the end";
  size_t end = offset + 1;
  while (end < text.size() && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
  return "; found '" + std::string(text.substr(offset, end - offset)) + "'";
}

void collect_names(const Expression& expression, std::set<std::string>& names) {
  if (expression.kind == Expression::Kind::Name) names.insert(expression.name);
  for (const Expression& child : expression.children) collect_names(child, names);
}

}  // namespace

std::variant<Expression, SyntaxError> parse_expression(std::string_view text) {
  namespace pegtl = tao::pegtl;
  if (text.size() > max_expression_bytes)
    return SyntaxError{0, "the expression is longer than " + std::to_string(max_expression_bytes) + " bytes"};
  if (brackets_too_deep(text)) return SyntaxError{0, "the expression is nested too deeply"};
  pegtl::memory_input in(text, "");
  try {
    const auto root =
        pegtl::parse_tree::parse<grammar::whole, grammar::kept, pegtl::nothing, grammar::control>(in);
    return convert(*root->children.front());
  } catch (const pegtl::parse_error& error) {
    const size_t offset = error.positions().front().byte;
    return SyntaxError{offset,
                       std::string(error.message()) + found(text, offset) + advice_on_syntax(text, offset)};
  } catch (const SyntaxError& error) {
    return error;
  }
}

std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  const auto parsed = parse_expression(text);
  if (const auto* const expression = std::get_if<Expression>(&parsed)) collect_names(*expression, names);
  return names;
}

}  // namespace troupe::config
