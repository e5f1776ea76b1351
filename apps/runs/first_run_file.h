// A first run file for a table, with comments: what its columns seem to be, a model that suits them, and how it is trained. A
// function without state; any thread.
#pragma once

#include <string>

#include "apps/data/csv/table_survey.h"
#include "messages/values/status.h"

namespace troupe::runs {

/// What the user says of a table.
struct TableFacts {
  std::string path;   ///< as the run file is to name it
  std::string name;   ///< of the run
  std::string file;   ///< the run file, as `troupe train` takes it
  std::string label;  ///< the column to predict; empty: the last one
};

/// Returns the text of the run file. Fails with InvalidArgument if the table has no such label, or nothing to predict it from.
Result<std::string> first_run_file(const data::TableSurvey& survey, const TableFacts& facts);

}  // namespace troupe::runs
