// The model of a run as a graph of its own: what it computes for samples as files have them, and its loss and metrics for labelled
// samples. Each run keeps it in its folder, without the values of its variables. Functions without state; any thread.
#pragma once

#include <optional>

#include "apps/config/run_config.h"
#include "apps/data/dataset.h"
#include "apps/interop/meta_graph.h"
#include "apps/runs/label_check.h"
#include "messages/env/disk.h"

namespace troupe::runs {

/// Returns the run file changed so that its data are what the model takes: the columns of the files, as the format yields them. The
/// graph of the model scales them, and computes those of data.map and data.ragged.
config::RunConfig with_data_for_model(config::RunConfig config);

/// Returns the names of the classes that a run file gives; none if they have only numbers.
std::vector<std::string> class_names(const config::RunConfig& config);

struct RunModel {
  interop::MetaGraph meta;
  std::vector<std::string> warnings;  ///< what is probably not meant in the run file
  /// InvalidArgument if the label has more classes than the loss can tell apart, DataLoss if it has negative ones.
  Status mistake;
  std::optional<LabelRange> labels;  ///< those that the loss takes; nothing: it takes no classes
};

/// Builds the model, for one device. `columns` are those of the samples to train on. The graph restores its variables, which have
/// the names of those of the training, from files of TensorFlow's checkpoint format V2. Its signatures are Model::predict, if the
/// run file says what the model yields or if that follows from the loss, with Model::predict_parsed if there are ragged columns,
/// and Model::evaluate, which yields "loss" and the metrics. Reads the files of words of ragged columns. Fails with InvalidArgument
/// and a location in the run file if the model is wrong, and as data::with_words() does.
Result<RunModel> build_run_model(Disk& disk, const config::RunConfig& config, const data::Dataset& columns,
                                 std::shared_ptr<const OpTable> ops);

/// Writes the model to the folder of a run.
Status save_run_model(Disk& disk, const std::string& run, const interop::MetaGraph& model);

}  // namespace troupe::runs
