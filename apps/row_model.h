// RowModel: a trained model that takes rows of the table from which it was trained, instead of the tensors that are made of them.
// Installed as <troupe/row_model.h>. A row is a JSON object with columns of the table by name, as "troupe serve" takes it and
// .jsonl files have it. Immutable and cheap to copy; any thread. Failures are thrown as troupe::Error. Public header.
//
//   const troupe::RowModel model(troupe::load("runs/penguins"));
//   const auto results = model.run(R"({"island": "Dream", "body_mass_g": null})");     // {"class", "probabilities"}
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inference/model.h"

#pragma GCC visibility push(default)
namespace troupe {

/// A column that rows may have.
struct RowColumn {
  std::string name;
  std::string type;  ///< that of data.columns of run files: "number", "category", "timestamp", "text"
  bool may_be_missing = false;      ///< whether a row may lack it, or have `null`
  std::vector<std::string> values;  ///< those of a category that the training has seen
};

class RowModel {
 public:
  /// Reads the run file beside the model. Throws NotFound if there is none, and InvalidArgument if the model was not trained from a
  /// table whose columns have names, or takes images or stretches of a series.
  explicit RowModel(const Model& model);

  const std::vector<RowColumn>& columns() const;
  /// Computes what the model predicts for rows. `rows` has one JSON object per line. Throws InvalidArgument, naming row, column and
  /// value, if there is no row, if a row has a member that is no column, a value of another type than the column, or none where it
  /// may not be missing, and as Model::run() does.
  std::map<std::string, Tensor> run(std::string_view rows, const Cancellation* cancellation = nullptr) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace troupe
#pragma GCC visibility pop
