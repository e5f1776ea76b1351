// The keys of [data.columns], the columns of a table. Functions without state; any thread.
#pragma once

#include <vector>

#include "apps/config/key.h"
#include "apps/config/reader.h"
#include "apps/data/table_column.h"

namespace troupe::config {

/// The input of the model in which the columns of numbers, categories and times are joined, unless they say otherwise.
inline constexpr const char* table_features = "features";

std::vector<Key> table_keys();

/// Replaces each column that is given as the name of its type, `age = "number"`, by a table with the type. `root` is that of the
/// document, which has not been checked.
void expand_column_types(Table& root);

/// Returns the columns in the table [data.columns], which has been checked.
std::vector<data::TableColumn> read_columns(const Reader& table);

}  // namespace troupe::config
