// TableObjects: the instances of requests as rows of the table from which a model was trained. An instance is an object with the
// columns of the table by name, and is read as a line of a .jsonl file is. Immutable; any thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/runs/trained_run.h"

namespace troupe::runs {

/// Returns data options with which the objects of .jsonl files are read as rows of the table of a run, without labels: the columns
/// of the table are known, so that an object may have any of them. Nothing if the run has no table, or the columns have no names.
/// If only the header of the files for training has the names, it is read; nothing if that fails.
std::optional<data::Options> options_for_objects(Disk& disk, const data::Options& options);

/// What is known of an input of a model whose elements are columns of a table.
struct TableInput {
  std::vector<std::string> columns;  ///< the names of those of its elements; empty: they have none
  bool takes_gaps = false;           ///< whether `null` may stand for an element
  double gap = 0;                    ///< the number for it; for texts it is an empty one
  std::string advice;                ///< if it takes no gaps: why not
};

class TableObjects {
 public:
  /// A column that objects may have.
  struct Column {
    std::string name, type;           ///< the type is that of data.columns: "number"
    bool takes_gaps = false;          ///< whether it may be missing
    std::vector<std::string> values;  ///< those of a category that the training has seen
  };

  /// Returns what is known of the table of a run; null if the run has none.
  static std::shared_ptr<const TableObjects> make(Disk& disk, const TrainedRun& run);

  /// Returns the columns; none if objects are no instances of this model.
  const std::vector<Column>& columns() const { return columns_; }
  /// Returns whether a name is that of an input of the model, but not of a column, so that an object which has it consists of
  /// inputs.
  bool is_only_input(std::string_view name) const { return only_inputs_.contains(name); }
  /// Returns what is known of an input of Model::predict; null: nothing.
  const TableInput* find_input(const std::string& name) const;
  /// Returns the inputs of Model::predict, in their order, of lines that each have an object. Errors name object I as "PLACE[I]".
  /// Fails with InvalidArgument, naming object, column and value, if an object has a member that is no column, a value of another
  /// type than the column, or none where there are no gaps, and if the rows would take much more memory than the lines.
  Result<std::vector<Tensor>> read(std::string_view lines, int64_t objects, const std::string& place) const;

 private:
  TableObjects() = default;
  Status add_columns(const TrainedRun& run);
  void add_features_without_names(const data::Options& options);
  Result<data::Dataset> rows_of(std::string_view lines, int64_t objects, const std::string& place) const;

  data::Options options_;
  data::SourceFile source_;
  ModelSignature signature_;
  std::vector<Column> columns_;
  std::map<std::string, TableInput> inputs_;
  std::set<std::string, std::less<>> only_inputs_;
};

}  // namespace troupe::runs
