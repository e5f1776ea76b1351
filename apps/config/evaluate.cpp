#include "apps/config/evaluate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/config/expression.h"
#include "apps/config/foreign_names.h"
#include "apps/config/layer_calls.h"

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
  Evaluator(const nn::Network& network, const Definition& definition, const Symbols& symbols,
            Diagnostics& diagnostics)
      : network_(network), definition_(definition), symbols_(symbols), diagnostics_(diagnostics) {}

  Evaluated root(const Expression& expression) {
    return expression.kind == Expression::Kind::Call ? call(expression, true) : value(expression);
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
      case Expression::Kind::Call: return call(expression, false);
    }
    return {};
  }

  Evaluated look_up(const Expression& expression) {
    const auto known = symbols_.values.find(expression.name);
    if (known != symbols_.values.end()) return entered(expression.name, known->second);
    if (!symbols_.complete) return {};
    if (const std::string advice = advice_on_function(
            expression.name,
            expression.name.find('.') == std::string::npos ? std::vector<std::string>() : functions());
        !advice.empty()) {
      const bool of_data = advice.find("data.") != std::string::npos;
      return fail(expression, "unknown name '" + expression.name + "'" + advice +
                                  (of_data ? hint(expression.name, names()) : std::string()));
    }
    return fail(expression, "unknown name '" + expression.name + "'" + hint(expression.name, names()));
  }

  /// Returns the names that an expression can use, none if so many mistakes are known that this one is not shown.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> names;
    if (diagnostics_.size() < Diagnostics::max_shown)
      for (const auto& [name, symbol] : symbols_.values) names.push_back(name);
    return names;
  }

  /// Returns what stands in the stage of the definition for the value of a name.
  Evaluated entered(const std::string& name, const Evaluated& value) const {
    const auto stage = symbols_.stages.find(name);
    if (!symbols_.builder || stage == symbols_.stages.end() || stage->second == definition_.stage || !value)
      return value;
    const auto* const output = std::get_if<Output>(&value->value());
    return output ? Argument(symbols_.builder->entering(*output, stage->second, definition_.stage)) : value;
  }

  Evaluated list(const Expression& expression) {
    std::vector<Argument> elements;
    for (const auto& child : expression.children)
      if (auto element = value(child)) elements.push_back(std::move(*element));
    if (elements.size() < expression.children.size()) return {};
    return Argument(std::move(elements));
  }

  /// Evaluates a call, which is the whole definition if `root` is set.
  Evaluated call(const Expression& expression, bool root) {
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
    const bool layer = expression.name.starts_with(layer_prefix);
    const Scope& scope = network_.scope();
    if (const std::string advice = advice_on(expression); !advice.empty())
      return fail(expression, "there is no function '" + expression.name + "'" + advice);
    if (faulty && (layer || scope.graph().ops()->find_constructor(expression.name))) return {};
    try {
      if (layer) return add_layer(layer_network(expression, root), layer_name(expression), positional, named);
      return (root ? scope.with_name(definition_.name) : scope.with_prefix(definition_.name))
          .call(expression.name, positional, named);
    } catch (const Error& error) {
      const std::string text = describe(error.status());
      return fail(expression, text + advice_on_refusal(expression.name, text));
    }
  }

  /// Returns the functions that an expression can call, of ops and of layers.
  std::vector<std::string> functions() const {
    std::vector<std::string> names;
    if (diagnostics_.size() >= Diagnostics::max_shown) return names;
    for (const std::string& layer : layer_list()) names.push_back(std::string(layer_prefix) + layer);
    for (const auto& known : network_.scope().graph().ops()->constructors()) names.emplace_back(known.first);
    return names;
  }

  /// Returns what to write instead of a function that does not exist, if that is known; nothing if it exists.
  std::string advice_on(const Expression& call) const {
    const bool is_layer = call.name.starts_with(layer_prefix);
    if (is_layer && std::ranges::count(layer_list(), layer_name(call)) != 0) return {};
    if (!is_layer && network_.scope().graph().ops()->find_constructor(call.name)) return {};
    return advice_on_function(call.name, functions());
  }

  static std::string_view layer_name(const Expression& expression) {
    return std::string_view(expression.name).substr(layer_prefix.size());
  }

  /// Returns the network in which the next layer has the name for this call.
  nn::Network layer_network(const Expression& expression, bool root) {
    if (root) return network_.named(definition_.name);
    const std::string name = definition_.name + '_' + std::string(layer_name(expression));
    const int number = layers_[name]++;
    return network_.named(number == 0 ? name : name + '_' + std::to_string(number));
  }

  /// The node is told from its definition on: the graph for training has the model several times.
  std::string describe(const Status& status) const {
    if (status.op().empty()) return status.text();
    const std::string& node = status.node();
    const size_t inside = node.find('/' + definition_.name + '/');
    return "[" + status.op() + "] " + node.substr(inside == std::string::npos ? 0 : inside + 1) + ": " +
           status.text();
  }

  const nn::Network& network_;
  const Definition& definition_;
  const Symbols& symbols_;
  Diagnostics& diagnostics_;
  std::map<std::string, int> layers_;  ///< how many layers of each name the definition has
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
  /// `known` has the names other than those of the definitions.
  Ordering(std::span<const Definition> definitions, const std::vector<std::optional<Expression>>& parsed,
           const Symbols& known)
      : parsed_(parsed), known_(known), references_(parsed.size()), users_(parsed.size()) {
    for (size_t i = 0; i < definitions.size(); ++i) index_.emplace(definitions[i].name, i);
    for (size_t i = 0; i < parsed.size(); ++i)
      if (parsed[i]) collect(i, *parsed[i]);
  }

  /// Returns all definitions that can be sorted. The others are part of a cycle or refer to one.
  std::vector<size_t> order() const {
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
      if (const auto to = definition_of(expression.name)) {
        references_[user].push_back({*to, expression.offset});
        users_[*to].push_back(user);
      }
    for (const auto& child : expression.children) collect(user, child);
  }

  /// Returns the definition of a name, or that of the layer whose weight it is: "conv_weights" belongs to "conv".
  std::optional<size_t> definition_of(std::string_view name) const {
    for (auto at = index_.find(name);; at = index_.find(name)) {
      if (at != index_.end()) return at->second;
      if (known_.values.contains(name)) return {};
      const size_t end = name.rfind('_');
      if (end == std::string_view::npos) return {};
      name = name.substr(0, end);
    }
  }

  const std::vector<std::optional<Expression>>& parsed_;
  const Symbols& known_;
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

/// Makes the weights of a network known by their names, from the one numbered `first` on.
void add_weights(const nn::Network& network, size_t first, Symbols& symbols) {
  for (size_t i = first; i < network.weights().size(); ++i)
    symbols.values.emplace(network.weights()[i].first.name, network.weights()[i].second);
}

nn::Network network_of(const Definition& definition, const nn::Network& network, const Symbols& symbols) {
  const nn::Network there = symbols.builder ? symbols.builder->at(network, definition.stage) : network;
  return definition.segment.empty() ? there : there.recomputed(definition.segment);
}

}  // namespace

void define(const nn::Network& network, std::span<const Definition> definitions, Symbols& symbols,
            Diagnostics& diagnostics) {
  std::vector<std::optional<Expression>> parsed;
  for (const auto& definition : definitions) parsed.push_back(parse(definition.expression, diagnostics));
  const Ordering ordering(definitions, parsed, symbols);
  for (const auto& definition : definitions) symbols.values.emplace(definition.name, std::nullopt);
  std::vector<bool> ordered(definitions.size());
  for (const size_t i : ordering.order()) {
    ordered[i] = true;
    if (!parsed[i]) continue;
    const size_t weights = network.weights().size();
    const nn::Network part = network_of(definitions[i], network, symbols);
    symbols.values[definitions[i].name] =
        Evaluator(part, definitions[i], symbols, diagnostics).root(*parsed[i]);
    if (symbols.builder) symbols.stages[definitions[i].name] = definitions[i].stage;
    add_weights(network, weights, symbols);
  }
  report_cycles(definitions, ordering, ordered, diagnostics);
}

std::optional<Output> evaluate(const nn::Network& network, const Definition& definition,
                               const Symbols& symbols, Diagnostics& diagnostics) {
  const auto parsed = parse(definition.expression, diagnostics);
  if (!parsed) return {};
  const nn::Network there = network_of(definition, network, symbols);
  Evaluator evaluator(there, definition, symbols, diagnostics);
  const Evaluated evaluated = evaluator.root(*parsed);
  if (!evaluated) return {};
  if (const auto* output = std::get_if<Output>(&evaluated->value()); output && !output->is_control())
    return *output;
  evaluator.fail(*parsed, "expected a tensor");
  return {};
}

}  // namespace troupe::config
