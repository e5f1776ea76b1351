#include "apps/config/combination.h"

#include "apps/config/evaluate.h"
#include "apps/config/expression.h"

namespace troupe::config {
namespace {

using OfShards = Output (*)(const Scope& scope, const nn::ShardGradients& of);

/// What an expression can use besides `gradients` and `samples`.
constexpr std::pair<std::string_view, OfShards> computed_names[] = {
    {"mean", nn::mean_gradient}, {"median", nn::median_gradient}, {"sorted", nn::sorted_gradients}};

std::optional<Output> combined(const Text& expression, const Scope& scope, const nn::ShardGradients& of,
                               Diagnostics& diagnostics) {
  Symbols symbols;
  symbols.values.emplace("gradients", Argument(of.gradients));
  symbols.values.emplace("samples", Argument(of.samples));
  const auto used = names_in(expression.text);
  for (const auto& [name, value] : computed_names)
    if (used.contains(std::string(name)))
      symbols.values.emplace(name, Argument(value(scope.with_prefix(name), of)));
    else
      symbols.values.emplace(name, std::nullopt);
  const nn::Network network(scope, nn::Mode::Check);
  return evaluate(network, {"combined", expression}, symbols, diagnostics);
}

}  // namespace

nn::Combination combination_of(const RunConfig& config) {
  if (config.train.replication.combine.text.empty()) return {};
  return [&config](const Scope& scope, const nn::ShardGradients& of) {
    Diagnostics diagnostics(*config.document);
    const auto result = combined(config.train.replication.combine, scope, of, diagnostics);
    throw_if_failed(diagnostics.status());
    return *result;
  };
}

void check_combination(const RunConfig& config, std::shared_ptr<const OpTable> ops,
                       Diagnostics& diagnostics) {
  const Text& expression = config.train.replication.combine;
  if (expression.text.empty()) return;
  Graph graph(std::move(ops));
  const size_t mistakes = diagnostics.size();
  try {
    nn::combining_function(Scope(graph), DType::Float, [&](const Scope& scope, const nn::ShardGradients& of) {
      const auto result = combined(expression, scope, of, diagnostics);
      return result ? *result : of.gradients;
    });
  } catch (const Error& error) {
    if (diagnostics.size() == mistakes) diagnostics.error_in(expression, 0, error.status().text());
  }
}

}  // namespace troupe::config
