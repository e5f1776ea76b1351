// ModelSource: where a loaded model comes from: its graph, and the values of its variables. Functions without state that read
// files; any thread that may block.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/inference/model.h"
#include "apps/interop/meta_graph.h"
#include "kernels/core/state.h"
#include "messages/env/disk.h"

namespace troupe {

/// Loads a model from the files of a disk, which is not used after the call. Fails as the public function does.
Model load(Disk& disk, const std::string& path, const LoadOptions& options);

namespace inference {

/// The parts of a folder of a saved model.
inline constexpr const char* graph_file = "saved_model.pb";
inline constexpr const char* variables_prefix = "variables/variables";
inline constexpr const char* assets_folder = "assets";
/// The folder, in that of a run, of the model without the values of its variables.
inline constexpr const char* run_model = "model";

/// The file, in the folder of a run, that says where its checkpoints are if they are in a store of objects.
inline constexpr const char* location_file = "checkpoints.location";

/// Where the checkpoints of a run are.
struct CheckpointLocation {
  std::string folder;
  std::string endpoint, region;  ///< of the store, as the run file gives them; empty: as the environment says
};

/// Returns what the location file of a run says, or else its folder "checkpoints".
CheckpointLocation checkpoints_of_run(Disk& disk, const std::string& run);
/// Returns the text of such a file.
std::string text_of(const CheckpointLocation& location);

/// What load() can take.
enum class ModelKind : uint8_t { None, SavedModel, Run, Checkpoint };

/// Returns what a folder is.
ModelKind kind_of(Disk& disk, const std::string& folder);
/// Returns the failure for a run without checkpoints, which names another run that has one.
Status without_checkpoint(Disk& disk, const std::string& run);

struct NumberedModel {
  int64_t number = 0;
  std::string path;
};

/// Returns the saved models and runs in a folder whose names are numbers, ordered by these. Fails as the disk does.
Result<std::vector<NumberedModel>> numbered_models(Disk& disk, const std::string& folder);

struct ModelSource {
  interop::MetaGraph meta;
  std::string model;  ///< the folder of the graph
  /// The folders of the checkpoints of a run, the newest first. Empty: the values are in the folder of the graph.
  std::vector<std::string> checkpoints;
};

/// Reads the graph of a model and finds where the values of its variables are. `path` is the folder of a saved model, of a run, or
/// of a checkpoint of a run. Fails with NotFound if there is no graph, or no checkpoint.
Result<ModelSource> open_model(Disk& disk, const std::string& path, const std::vector<std::string>& tags,
                               std::shared_ptr<const OpTable> ops);

/// Fails with InvalidArgument for the path of any file but an asset of the saved model in a folder: a model that comes from
/// elsewhere must not read others.
Status check_is_asset(const std::string& model, const std::string& path);

/// Returns the nodes that compute the outputs of a signature from its inputs. Fails as cut_subgraph() does.
Result<std::vector<NodeId>> needed_nodes(const Graph& graph, const interop::Signature& signature);
/// Returns the cells of the variables that the signatures of a model need, by name. `state` makes them.
Result<std::map<std::string, std::shared_ptr<StateCell>>> needed_cells(const interop::MetaGraph& meta,
                                                                       StateTable& state);

/// Publishes the values of cells, which are those of variables of the graph, by name. Returns the folder from which they are: of
/// several checkpoints the newest one that is not damaged. Fails with NotFound, naming the variable, if there is no value for one
/// of them, with InvalidArgument if a value has another dtype or shape, and with DataLoss if files are damaged.
Result<std::string> read_variables(Disk& disk, const ModelSource& source,
                                   const std::map<std::string, std::shared_ptr<StateCell>>& cells);

}  // namespace inference
}  // namespace troupe
