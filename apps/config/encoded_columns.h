// What the model gets of the columns of a table: numbers are normalized and missing ones filled in, categories become vectors or
// indices, times become the phases of days, weeks and years. All of it is part of the graph, with ops of TensorFlow alone, so that
// a trained model takes the values as the table has them. Functions without state; one thread at a time per graph.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/config/data_map.h"
#include "apps/data/table_column.h"

namespace troupe::config {

/// Returns whether the column needs nothing of the samples to train on any more.
bool is_fitted(const data::TableColumn& column);

/// Returns the names of the inputs of the model, in the order in which columns first name them.
std::vector<std::string> encoded_names(std::span<const data::TableColumn> table);

/// Returns the inputs of the model: float [batch, width] of numbers, categories and times, int32 [batch] of indices, and string
/// [batch] of texts and images. `columns` are those of the table in their raw form, [batch] or [batch, n], and others, which stay
/// behind the inputs as they are. An input of which a column is not fitted becomes a placeholder of unknown width.
Columns encode_columns(std::span<const data::TableColumn> table, const Scope& scope, const Columns& columns);

}  // namespace troupe::config
