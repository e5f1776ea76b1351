#include "apps/config/evaluate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/config/expression.h"

namespace troupe::config {
namespace {

using Evaluated = std::optional<Argument>;  ///< nothing: faulty, and said so

std::optional<double> as_number(const Argument& argument) {
  if (const auto* integer = std::get_if<int64_t>(&argument.value())) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&argument.value())) return *number;
  return {};
}

/// Computes a op b for integers; returns false if the op does not yield an integer or the result is too large.
bool compute(std::string_view op, int64_t a, int64_t b, int64_t& result) {
  if (op == "add") return !__builtin_add_overflow(a, b, &result);
  if (op == "sub") return !__builtin_sub_overflow(a, b, &result);
  return op == "mul" && !__builtin_mul_overflow(a, b, &result);
}

/// Computes + - * / between numbers; a division always yields a floating point number. Returns nothing for any other call.
Result<Evaluated> fold(std::string_view op, std::vector<Argument> operands) {
  if (op == "neg" && operands.size() == 1) {
    op = "sub";
    operands.insert(operands.begin(), int64_t{0});
  }
  const bool is_operator = op == "add" || op == "sub" || op == "mul" || op == "div";
  if (!is_operator || operands.size() != 2) return Evaluated{};
  const auto a = as_number(operands[0]), b = as_number(operands[1]);
  if (!a || !b) return Evaluated{};
  const auto* m = std::get_if<int64_t>(&operands[0].value());
  const auto* n = std::get_if<int64_t>(&operands[1].value());
  if (int64_t result = 0; m && n && compute(op, *m, *n, result)) return Evaluated(result);
  const double result = op == "add" ? *a + *b : op == "sub" ? *a - *b : op == "mul" ? *a * *b : *a / *b;
  if (!std::isfinite(result)) return invalid_argument("the result is not a finite number");
  return Evaluated(result);
}

/// Evaluates one expression.
class Evaluator {
 public:
  Evaluator(const Scope& scope, const Definition& definition, const Symbols& symbols,
            Diagnostics& diagnostics)
      : scope_(scope), definition_(definition), symbols_(symbols), diagnostics_(diagnostics) {}

  Evaluated root(const Expression& expression) {
    return expression.kind == Expression::Kind::Call ? call(expression, scope_.with_name(definition_.name))
                                                     : value(expression);
  }
  Evaluated fail(const Expression& at, std::string text) {
    diagnostics_.error_in(definition_.expression, at.offset, std::move(text));
    return {};
  }

 private:
  Evaluated value(const Expression& expression) {
    switch (expression.kind) {
      case Expression::Kind::Literal:
        return std::visit([](const auto& literal) { return Argument(literal); }, expression.literal);
      case Expression::Kind::Name: return look_up(expression);
      case Expression::Kind::Sequence: return list(expression);
      case Expression::Kind::Call: return call(expression, scope_.with_prefix(definition_.name));
    }
    return {};
  }

  Evaluated look_up(const Expression& expression) {
    const auto known = symbols_.values.find(expression.name);
    if (known != symbols_.values.end()) return known->second;
    if (!symbols_.complete) return {};
    std::vector<std::string_view> names;
    if (diagnostics_.size() < Diagnostics::max_shown)
      for (const auto& [name, symbol] : symbols_.values) names.push_back(name);
    return fail(expression, "unknown name '" + expression.name + "'" + hint(expression.name, names));
  }

  Evaluated list(const Expression& expression) {
    std::vector<Argument> elements;
    for (const auto& child : expression.children)
      if (auto element = value(child)) elements.push_back(std::move(*element));
    if (elements.size() < expression.children.size()) return {};
    return Argument(std::move(elements));
  }

  Evaluated call(const Expression& expression, const Scope& scope) {
    std::vector<Argument> positional;
    NamedArguments named;
    bool faulty = false;
    for (const auto& child : expression.children) {
      auto argument = value(child);
      if (!argument)
        faulty = true;
      else if (!child.keyword.empty())
        named.emplace_back(child.keyword, std::move(*argument));
      else if (named.empty())
        positional.push_back(std::move(*argument));
      else
        faulty = !fail(child, "a positional argument follows a named one");
    }
    if (!faulty && named.empty()) {
      auto folded = fold(expression.name, positional);
      if (!folded) return fail(expression, folded.status().text());
      if (*folded) return *folded;
    }
    if (faulty && scope.graph().ops()->find_constructor(expression.name)) return {};
    try {
      return scope.call(expression.name, positional, named);
    } catch (const Error& error) {
      return fail(expression, describe(error.status()));
    }
  }

  static std::string describe(const Status& status) {
    if (status.op().empty()) return status.text();
    return "[" + status.op() + "] " + status.node() + ": " + status.text();
  }

  Scope scope_;
  const Definition& definition_;
  const Symbols& symbols_;
  Diagnostics& diagnostics_;
};

/// Returns the parsed expression, or nothing after a syntax error. An empty string was rejected earlier, with a message.
std::optional<Expression> parse(const Text& text, Diagnostics& diagnostics) {
  if (text.text.empty()) return {};
  auto parsed = parse_expression(text.text);
  if (const auto* error = std::get_if<SyntaxError>(&parsed)) {
    diagnostics.error_in(text, error->offset, error->text);
    return {};
  }
  return std::get<Expression>(std::move(parsed));
}

/// Sorts definitions so that each comes after those it refers to.
class Ordering {
 public:
  Ordering(std::span<const Definition> definitions, const std::vector<std::optional<Expression>>& parsed)
      : parsed_(parsed), references_(parsed.size()), users_(parsed.size()) {
    for (size_t i = 0; i < definitions.size(); ++i) index_.emplace(definitions[i].name, i);
    for (size_t i = 0; i < parsed.size(); ++i)
      if (parsed[i]) collect(i, *parsed[i]);
  }

  /// Returns all definitions that can be sorted. The others are part of a cycle or refer to one.
  std::vector<size_t> order() {
    std::vector<size_t> waiting(parsed_.size()), done;
    std::set<size_t> ready;
    for (size_t i = 0; i < parsed_.size(); ++i)
      if ((waiting[i] = references_[i].size()) == 0) ready.insert(i);
    while (!ready.empty()) {
      done.push_back(*ready.begin());
      ready.erase(ready.begin());
      for (const size_t user : users_[done.back()])
        if (--waiting[user] == 0) ready.insert(user);
    }
    return done;
  }

  struct Reference {
    size_t to = 0;
    size_t offset = 0;
  };
  const std::vector<Reference>& references(size_t definition) const { return references_[definition]; }

 private:
  void collect(size_t user, const Expression& expression) {
    if (expression.kind == Expression::Kind::Name)
      if (const auto at = index_.find(expression.name); at != index_.end()) {
        references_[user].push_back({at->second, expression.offset});
        users_[at->second].push_back(user);
      }
    for (const auto& child : expression.children) collect(user, child);
  }

  const std::vector<std::optional<Expression>>& parsed_;
  std::map<std::string_view, size_t> index_;
  std::vector<std::vector<Reference>> references_;
  std::vector<std::vector<size_t>> users_;
};

/// Reports each cycle once. From each definition that could not be sorted, it follows the first reference to another such
/// definition, until it reaches a definition for the second time.
void report_cycles(std::span<const Definition> definitions, const Ordering& ordering,
                   const std::vector<bool>& ordered, Diagnostics& diagnostics) {
  std::vector<size_t> walk_of(definitions.size());  // 0: not visited yet
  for (size_t start = 0; start < definitions.size(); ++start) {
    if (ordered[start] || walk_of[start]) continue;
    std::vector<size_t> path;
    size_t at = start, offset = 0;
    while (!walk_of[at]) {
      walk_of[at] = start + 1;
      path.push_back(at);
      const auto& references = ordering.references(at);
      const auto next = std::find_if(references.begin(), references.end(),
                                     [&](const auto& one) { return !ordered[one.to]; });
      at = next->to;
      offset = next->offset;
    }
    if (walk_of[at] != start + 1) continue;
    std::string cycle;
    for (auto one = std::find(path.begin(), path.end(), at); one != path.end(); ++one)
      cycle += definitions[*one].name + " -> ";
    diagnostics.error_in(definitions[path.back()].expression, offset,
                         "the definitions form a cycle: " + cycle + definitions[at].name);
  }
}

}  // namespace

void define(const Scope& scope, std::span<const Definition> definitions, Symbols& symbols,
            Diagnostics& diagnostics) {
  std::vector<std::optional<Expression>> parsed;
  for (const auto& definition : definitions) parsed.push_back(parse(definition.expression, diagnostics));
  for (const auto& definition : definitions) symbols.values.emplace(definition.name, std::nullopt);
  Ordering ordering(definitions, parsed);
  std::vector<bool> ordered(definitions.size());
  for (const size_t i : ordering.order()) {
    ordered[i] = true;
    if (!parsed[i]) continue;
    symbols.values[definitions[i].name] =
        Evaluator(scope, definitions[i], symbols, diagnostics).root(*parsed[i]);
  }
  report_cycles(definitions, ordering, ordered, diagnostics);
}

std::optional<Output> evaluate(const Scope& scope, const Definition& definition, const Symbols& symbols,
                               Diagnostics& diagnostics) {
  const auto parsed = parse(definition.expression, diagnostics);
  if (!parsed) return {};
  Evaluator evaluator(scope, definition, symbols, diagnostics);
  const Evaluated evaluated = evaluator.root(*parsed);
  if (!evaluated) return {};
  if (const auto* output = std::get_if<Output>(&evaluated->value()); output && !output->is_control())
    return *output;
  evaluator.fail(*parsed, "expected a tensor");
  return {};
}

}  // namespace troupe::config
