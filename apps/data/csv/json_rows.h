// JsonRows: lines that are JSON objects, as rows of a text with columns. Each member is a column. A number, a text and a truth
// value are a field; a list of these is a field with its elements as words; null, and a member that is not there, an empty field.
// Owned by a reader; one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/status.h"

namespace troupe::data {

class JsonRows {
 public:
  /// `names` are those of columns, which objects need not have. If `takes_more`, the members of the first line are columns, too. A
  /// member may be another spelling of one of these names (see names_column()), unless another member of the first line has it
  /// exactly.
  JsonRows(char delimiter, std::vector<std::string> names, bool takes_more);
  ~JsonRows();

  /// Returns the names of the columns. Not empty after the first line.
  const std::vector<std::string>& names() const { return names_; }
  /// Says which columns, of all of them, may be lists; before that all may.
  void set_may_be_list(std::vector<bool> columns) { may_be_list_ = std::move(columns); }
  /// Returns the fields of a line, in the order of the names, as CsvRow takes them; valid until the next call. Fails with DataLoss
  /// if the line is no object, has a member that is no column, two members that are the same one, or a value that is no field, or
  /// if a member of the first line is so similar to a given name that it may be a typing error.
  Result<std::string_view> row(std::string_view line);

 private:
  struct Parser;

  Status add_names(const std::vector<std::string_view>& members);
  std::optional<size_t> column_of(std::string_view member) const;
  std::optional<size_t> other_spelling(std::string_view member) const;

  const char delimiter_;
  std::vector<std::string> names_;
  const size_t given_;                     ///< how many names were given, those at the front
  std::set<size_t> exact_;                 ///< the given names that members of the first line have exactly
  bool takes_more_;                        ///< until the first line
  std::vector<bool> may_be_list_;          ///< by column; empty: all may
  std::vector<std::string> fields_;        ///< of the row, by column
  std::vector<std::string_view> members_;  ///< that the fields come from; empty: none
  std::string row_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace troupe::data
