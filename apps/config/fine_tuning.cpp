#include "apps/config/fine_tuning.h"

#include <algorithm>

#include "apps/config/reader.h"
#include "messages/env/glob.h"

namespace troupe::config {
namespace {

using Patterns = std::vector<std::string>;

bool is_one_of(const Patterns& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& one) { return matches(one, name); });
}

/// Returns the name of the whole weight, if this is a part of one.
const std::string& whole_name(const nn::Weight& weight) {
  return weight.slice ? weight.slice->of : weight.name;
}

/// Returns text about what a name may mean that names nothing. Variables belong to no layer.
std::string advice(const std::string& name, const std::vector<std::string_view>& names,
                   const RunConfig& config) {
  if (std::ranges::find(config.model.variables, name, &Variable::name) == config.model.variables.end())
    return hint(name, names);
  return "; it is a variable, whose value model.variables." + name + ".trainable = false keeps";
}

/// Returns whether a name or pattern stands for a weight, as that of the weight or of its layer.
bool means(const std::string& pattern, const nn::Weight& weight) {
  return matches(pattern, whole_name(weight)) || (!weight.layer.empty() && matches(pattern, weight.layer));
}

double product(const std::vector<NamedFactor>& factors, const nn::Weight& weight) {
  double result = 1;
  for (const NamedFactor& one : factors)
    if (means(one.name, weight)) result *= one.factor;
  return result;
}

void check_names(const char* key, const Patterns& patterns, const std::vector<std::string_view>& names,
                 const char* kind, const RunConfig& config, Diagnostics& diagnostics) {
  const Reader model = Reader(&config.document->root()).table("model");
  for (const std::string& pattern : patterns)
    if (std::ranges::none_of(names, [&](std::string_view name) { return matches(pattern, name); }))
      diagnostics.error(model.place(key), std::string("model.") + key + ": there is no " + kind + " '" +
                                              pattern + '\'' + advice(pattern, names, config));
}

}  // namespace

void freeze_layers(const Model& model, const nn::Network& network) {
  if (model.freeze.empty()) return;
  network.freeze([patterns = model.freeze](std::string_view layer) { return is_one_of(patterns, layer); });
}

void check_fine_tuning(const RunConfig& config, const nn::Network& network, Diagnostics& diagnostics) {
  std::vector<std::string_view> layers, all;
  for (const auto& [weight, edge] : network.weights()) {
    all.push_back(whole_name(weight));
    if (!weight.layer.empty() && (layers.empty() || layers.back() != weight.layer))
      layers.push_back(weight.layer);
  }
  all.insert(all.end(), layers.begin(), layers.end());
  check_names("freeze", config.model.freeze, layers, "layer with weights", config, diagnostics);
  check_names("init_except", config.model.init_except, all, "layer or weight", config, diagnostics);
  const auto check = [&](const std::string& key, const std::vector<NamedFactor>& factors) {
    for (const NamedFactor& one : factors)
      if (std::ranges::none_of(all, [&](std::string_view name) { return matches(one.name, name); }))
        diagnostics.error(one.place, "train.factors." + key + ": there is no layer or weight '" + one.name +
                                         '\'' + hint(one.name, all));
  };
  check("lr", config.train.factors.lr);
  check("weight_decay", config.train.factors.weight_decay);
}

bool has_stored_value(const Model& model, const nn::Weight& weight) {
  const auto is_meant = [&](const std::string& pattern) { return means(pattern, weight); };
  return !model.init_from.empty() && std::ranges::none_of(model.init_except, is_meant);
}

nn::UpdateFactors update_factors(const Train& train, const nn::Weight& weight) {
  return {product(train.factors.lr, weight), product(train.factors.weight_decay, weight)};
}

}  // namespace troupe::config
