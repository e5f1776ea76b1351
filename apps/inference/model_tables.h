// ModelTables: the lookup tables of a loaded model. load() fills them; from then on they do not change, and any thread may look up
// values.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apps/inference/model_source.h"
#include "kernels/core/kernel.h"
#include "kernels/runtime/step_request.h"
#include "kernels/tables/table_contents.h"

namespace troupe::inference {

class ModelTables {
 public:
  /// `device`, which allocates the contents, must outlive the tables.
  explicit ModelTables(Device& device) : device_(std::shared_ptr<void>(), &device) {}

  /// Adds the table, without contents, of a node that yields its handle. `name` is that of its state. Fails as table_spec() does.
  Status add(const Node& handle, const std::string& name);
  /// Returns null if there is no table of this name.
  TableContents* find(const std::string& name) const;
  /// Called once all tables that get contents have them: then those that may be empty can be used.
  Status complete();
  bool empty() const { return tables_.empty(); }

  /// Returns whether answer() carries out a node: one that looks up values, or says how many there are.
  static bool carries_out(const Node& node);
  /// Carries out such a node. Fails with FailedPrecondition if the table has no contents, with InvalidArgument if the node asks for
  /// another type than the table has.
  StepReply answer(const StepRequest& request) const;

 private:
  Result<std::vector<Tensor>> outputs_of(const StepRequest& request) const;

  std::shared_ptr<Device> device_;
  std::map<std::string, std::unique_ptr<TableContents>> tables_;  ///< by the names of their states
};

/// Returns the tables that the signatures of a model need, with the contents that its graph gives them when it starts and when it
/// restores its variables. Fails with DataLoss or NotFound if files are damaged or missing, and with InvalidArgument, naming the
/// node, if contents do not fit their table, or come from a file that is no asset of the model.
Result<ModelTables> read_tables(Disk& disk, const ModelSource& source, const OpLibrary& library,
                                Device& device, StateTable& state);

}  // namespace troupe::inference
