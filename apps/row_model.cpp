#include "apps/row_model.h"

#include <utility>

#include "apps/runs/table_objects.h"
#include "apps/runs/trained_run.h"
#include "messages/env/real_disk.h"
#include "messages/values/held_by.h"

namespace troupe {
namespace {

std::vector<RowColumn> columns_of(const runs::TableObjects& table) {
  std::vector<RowColumn> columns;
  for (const auto& [name, type, takes_gaps, values] : table.columns())
    columns.push_back({name, type, takes_gaps, values});
  return columns;
}

/// Returns the lines that are not blank, and how many there are.
std::pair<std::string, int64_t> rows_in(std::string_view text) {
  std::pair<std::string, int64_t> rows;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    rows.first.append(line).push_back('\n');
    ++rows.second;
  }
  return rows;
}

}  // namespace

struct RowModel::Impl {
  Model model;
  std::shared_ptr<const runs::TableObjects> table;
  std::vector<RowColumn> columns;
};

RowModel::RowModel(const Model& model) {
  RealDisk disk;
  const auto run = value_or_throw(runs::trained_run_of(disk, model, {}));
  if (!run.config)
    throw Error(not_found("the model in " + run.folder + " has no run file that says what its columns are"));
  auto table = runs::TableObjects::make(disk, run);
  if (!table || table->columns().empty())
    throw Error(invalid_argument("the model in " + run.folder +
                                 " takes no rows, because it was not trained from a table whose columns have "
                                 "names, or takes images or stretches of a series"));
  auto columns = columns_of(*table);
  impl_ = std::make_shared<const Impl>(Impl{model, std::move(table), std::move(columns)});
}

const std::vector<RowColumn>& RowModel::columns() const { return held_by(impl_, "model").columns; }

std::map<std::string, Tensor> RowModel::run(std::string_view rows, const Cancellation* cancellation) const {
  const Impl& held = held_by(impl_, "model");
  const auto [lines, count] = rows_in(rows);
  if (count == 0) throw Error(invalid_argument("there are no rows"));
  auto values =
      held.model.run(value_or_throw(held.table->read(lines, count, "rows")), Model::predict, cancellation);
  const auto& outputs = held.model.signature().outputs;
  std::map<std::string, Tensor> results;
  for (size_t i = 0; i < values.size(); ++i) results.emplace(outputs[i].name, std::move(values[i]));
  return results;
}

}  // namespace troupe
