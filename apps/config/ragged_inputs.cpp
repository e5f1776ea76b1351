#include "apps/config/ragged_inputs.h"

#include <algorithm>

#include "apps/config/reader.h"

namespace troupe::config {
namespace {

/// Returns the location of a ragged column in the run file.
SourceLocation place_of(const RunConfig& config, const std::string& column) {
  SourceLocation found;
  Reader(&config.document->root())
      .table("data")
      .table("ragged")
      .each([&](const std::string& name, SourceLocation place, const Value&) {
        if (name == column) found = place;
      });
  return found;
}

/// Returns what is wrong with the column of which a ragged one is made, or an empty text.
std::string mistake_in_source(const data::RaggedColumn& ragged, const Scope& scope, const Columns& columns) {
  const auto source = std::ranges::find(columns, ragged.from, &Columns::value_type::first);
  if (source != columns.end()) {
    const Output value = source->second;
    if (scope.dtype(value) == DType::String && scope.shape(value).compatible_with(PartialShape{unknown_dim}))
      return {};
    return "the samples of column '" + ragged.from + "' are " + std::string(name(scope.dtype(value))) +
           scope.shape(value).text() + "; expected a string for each";
  }
  std::vector<std::string_view> names;
  for (const auto& [name, value] : columns) names.push_back(name);
  return "the data has no column '" + ragged.from + "'" + hint(ragged.from, names);
}

}  // namespace

Columns ragged_inputs(const RunConfig& config, const Scope& scope, Columns columns,
                      Diagnostics& diagnostics) {
  const auto refuse = [&](const data::RaggedColumn& ragged, const std::string& why) {
    diagnostics.error(place_of(config, ragged.name), "data.ragged." + ragged.name + ": " + why);
  };
  Columns added;
  for (const data::RaggedColumn& ragged : config.ragged) {
    if (const std::string mistake = mistake_in_source(ragged, scope, columns); !mistake.empty())
      refuse(ragged, mistake);
    const auto add = [&](const std::string& name, DType dtype, PartialShape shape) {
      const Attributes attrs = {{"dtype", dtype}, {"shape", std::move(shape)}};
      added.emplace_back(name, scope.with_name(name).add_one("Placeholder", {}, attrs));
    };
    const PartialShape vector{unknown_dim};
    add(ragged.name, ragged.dtype, ragged.pad ? PartialShape{unknown_dim, unknown_dim} : vector);
    add(ragged.companion(), ragged.pad ? DType::Int32 : DType::Int64, vector);
  }
  std::erase_if(columns, [&](const auto& column) {
    return scope.dtype(column.second) == DType::String &&
           std::ranges::find(config.ragged, column.first, &data::RaggedColumn::from) != config.ragged.end();
  });
  for (const data::RaggedColumn& ragged : config.ragged)
    for (const std::string& name : {ragged.name, ragged.companion()})
      if (std::ranges::find(columns, name, &Columns::value_type::first) != columns.end() ||
          std::ranges::count(added, name, &Columns::value_type::first) != 1)
        refuse(ragged, "'" + name + "' names two columns");
  columns.insert(columns.end(), added.begin(), added.end());
  return columns;
}

}  // namespace troupe::config
