#include "apps/config/data_map.h"

#include <algorithm>

#include "graph/build/functional.h"

namespace troupe::config {
namespace {

/// Replaces the column of this name, or adds one.
void set(Columns& columns, const std::string& name, Output value) {
  const auto known = std::ranges::find(columns, name, &Columns::value_type::first);
  if (known != columns.end())
    known->second = value;
  else
    columns.emplace_back(name, value);
}

}  // namespace

Columns build_data_map(const std::vector<Definition>& definitions, const Scope& scope, const Columns& columns,
                       Diagnostics& diagnostics) {
  if (definitions.empty()) return columns;
  Columns of_sample;
  std::vector<size_t> changed;  // the columns that are not those of the batch: the others need no loop
  const auto apply = [&](const Scope& s, Outputs slices) {
    of_sample = columns;
    changed.clear();
    for (size_t i = 0; i < slices.size(); ++i) of_sample[i].second = slices[i];
    Symbols symbols;
    for (const auto& [name, value] : of_sample) symbols.values[name] = Argument(value);
    const nn::Network network(s, nn::Mode::Check);
    for (const Definition& definition : definitions) {
      const auto result = evaluate(network, definition, symbols, diagnostics);
      symbols.values[definition.name] = result ? std::optional<Argument>(*result) : std::nullopt;
      if (result) set(of_sample, definition.name, *result);
    }
    std::vector<Output> results;
    for (size_t i = 0; i < of_sample.size(); ++i) {
      if (i < slices.size() && of_sample[i].second == slices[i]) continue;
      changed.push_back(i);
      results.push_back(of_sample[i].second);
    }
    return results;
  };
  std::vector<Output> elements;
  for (const auto& [name, value] : columns) elements.push_back(value);
  const auto mapped = map_fn(scope, elements, apply);
  Columns result = of_sample;
  for (size_t i = 0; i < columns.size(); ++i) result[i].second = columns[i].second;
  for (size_t i = 0; i < mapped.size(); ++i) result[changed[i]].second = mapped[i];
  return result;
}

}  // namespace troupe::config
