// The ragged columns of a run file (data.ragged) in a graph: texts are divided into words or numbers, and records give the values
// of their features. All of it has ops of TensorFlow alone, so that a trained model takes texts as files have them. Functions
// without state; one thread at a time per graph.
#pragma once

#include <vector>

#include "apps/config/data_map.h"
#include "apps/data/ragged/row_parser.h"

namespace troupe::config {

struct ParsedRows {
  Columns columns;  ///< those that were given, without the texts that were divided, and `parsed`
  Columns parsed;   ///< for each ragged column its elements and its splits or lengths; they may be fed
  std::vector<Output> fills;  ///< targets that fill the tables of words
};

/// Divides the columns as data::RowParser does. `ragged` have their words (data::with_words()). An integer in a text or record
/// that does not fit its type fails where the graph runs, or wraps around. Throws Error if a column of texts is missing.
ParsedRows parse_rows(const std::vector<data::RaggedColumn>& ragged, const Scope& scope,
                      const Columns& columns);

}  // namespace troupe::config
