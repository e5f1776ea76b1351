// A first run file for a table, with comments: what its columns seem to be, a model that suits them, and how it is trained. A
// function without state; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/data/csv/table_survey.h"
#include "messages/values/status.h"

namespace troupe::runs {

/// What the user says of a table.
struct TableFacts {
  std::string path;  ///< as the run file is to name it
  std::string name;  ///< of the run
  std::string file;  ///< the run file, as `troupe train` takes it
  /// The columns to predict; several of them are numbers. None: the last one.
  std::vector<std::string> labels = {};
  /// For a series: how many rows the next one is predicted from. 0: each row is a sample.
  int64_t window = 0;
  std::string series = {};  ///< the column that tells several series apart; empty: there is one
};

/// Returns the text of the run file. Fails with InvalidArgument if the table has no such columns, nothing to predict the labels
/// from, or fewer rows than a window needs.
Result<std::string> first_run_file(const data::TableSurvey& survey, const TableFacts& facts);

}  // namespace troupe::runs
