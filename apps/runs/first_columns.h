// FirstColumns: what the columns of a table become in a first run file. Plain values; any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/data/csv/table_survey.h"

namespace troupe::runs {

using SurveyedColumns = std::vector<const data::SurveyedColumn*>;

/// Returns the names of columns as a list of TOML.
std::string list_of_names(const SurveyedColumns& columns);

class FirstColumns {
 public:
  /// A column, and its name in data.columns.
  struct Named {
    const data::SurveyedColumn* column;
    std::string name;
  };
  /// The size of the vocabulary of a text.
  static constexpr int64_t most_words = 5000;

  /// Sorts all columns but those of `others` by what they are.
  FirstColumns(const data::TableSurvey& survey, const SurveyedColumns& others);

  /// Adds a column of numbers that has a name of its own in data.columns, and returns that.
  std::string add_numbers(const SurveyedColumns& columns);
  /// Adds the column that tells series apart, and returns its name in data.columns.
  std::string add_series(const data::SurveyedColumn& column);
  /// Leaves out texts, for a reason.
  void leave_out_texts(const std::string& reason);

  /// Returns whether there are numbers, categories or times.
  bool has_features() const;
  const std::vector<Named>& texts() const { return texts_; }
  /// Returns why columns are left out, each on a line of its own; empty: all are read.
  std::string reasons() const;

  /// Returns [data.columns] and, if there are texts, [data.ragged].
  std::string text() const;

 private:
  void sort(const data::SurveyedColumn& column);
  std::string unique_name(const std::string& column);
  std::string category_line(const Named& one) const;

  const data::TableSurvey& survey_;
  SurveyedColumns numbers_, gaps_;
  std::vector<Named> categories_, times_, texts_;
  std::vector<std::pair<std::string, std::string>> left_out_;  ///< names of columns, and why
  std::string own_lines_;                                      ///< of columns that were added
  std::set<std::string, std::less<>> taken_;                   ///< names in data.columns
};

}  // namespace troupe::runs
