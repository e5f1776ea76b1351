// TrainedRun: a trained model with the run file that it comes from, and samples for it from files. Plain values and functions
// without state that read files; any thread that may block.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/data/sample_set.h"
#include "apps/inference/model.h"
#include "apps/train/graphs/score_means.h"

namespace troupe::runs {

struct TrainedRun {
  std::string folder;  ///< of the run or of the saved model
  /// With data for the model: see with_data_for_model(). Nothing for a saved model that is not that of a run.
  std::optional<config::RunConfig> config;
  Model model;
  /// The folders of the checkpoints of the run that are newer than that of the model, because they are damaged.
  std::vector<std::string> damaged = {};

  /// Returns the names of the classes; none if they have only numbers.
  std::vector<std::string> classes() const;
};

/// Fails with InvalidArgument if the path names a file, such as a run file, where the folder of a run is expected.
Status check_is_folder(Disk& disk, const std::string& path);

/// Returns the folder of the run whose checkpoint is in a folder; nothing if there is no checkpoint in it.
std::optional<std::string> run_of_checkpoint(Disk& disk, const std::string& folder);

/// Returns the folder that load() takes: that of a checkpoint, of a saved model, or of a run; of a folder that contains runs, the
/// newest one. Fails with NotFound if the path is none of these, and with InvalidArgument if it names a file.
Result<std::string> find_model(Disk& disk, const std::string& path);

/// The file, in the folder of an exported model, with the run file. TensorFlow ignores the folder of this name.
inline constexpr const char* exported_config = "assets.extra/config.toml";

/// Opens the model that find_model() finds. If that is a checkpoint, it provides the values of the variables. `set` changes values
/// of the run file, such as "data.delimiter=;". Fails with NotFound if there is no run or no checkpoint, with InvalidArgument if
/// the run file is wrong, and as load() does.
Result<TrainedRun> open_trained_run(Disk& disk, const std::string& path, const std::vector<std::string>& set,
                                    const LoadOptions& options);

/// Returns a model that has been loaded, with its run file. Fails with InvalidArgument if the run file is wrong.
Result<TrainedRun> trained_run_of(Disk& disk, const Model& model, const std::vector<std::string>& set);

/// Returns the signature Model::predict; null if the model has none.
const ModelSignature* predict_signature(const Model& model);

/// Leaves only those columns of a table in the options that the signature Model::predict takes: several columns of targets, for
/// example, are needed for training and evaluation alone. Options without columns stay as they are.
void keep_columns_to_predict(const TrainedRun& run, data::Options& options);

/// Returns the samples of files in the format of the run, with the columns that the signature Model::predict takes. The files may
/// have labels, as those for training have, or none. A single .npz file may have the inputs of the model by name, the lines of a
/// single .jsonl file too, as `troupe serve` takes them, and a single .npy file its only input, which is all that a model without a
/// run file takes. Fails with InvalidArgument or DataLoss if the files have other columns than the model takes.
Result<std::shared_ptr<const data::SampleSet>> samples_to_predict(Disk& disk, const TrainedRun& run,
                                                                  const std::vector<std::string>& files);

/// What to evaluate: files, with a label file for each if the format has such, or what the run file names.
struct LabelledFiles {
  std::vector<std::string> files, labels;
  std::string part;  ///< "train", "valid" or "test"; used if there are no files
};

/// Returns the part that is used if no files are given: the one that the training has seen least of.
std::string default_part(const config::RunConfig& config);

/// Returns labelled samples. Fails with InvalidArgument if the run file does not have the part.
Result<std::shared_ptr<const data::SampleSet>> samples_to_evaluate(Disk& disk, const TrainedRun& run,
                                                                   const LabelledFiles& what);

/// Returns the scores that the training would find for samples. Throws Error, also if `cancellation`, which may be null, is
/// cancelled meanwhile.
train::Scores evaluate(const TrainedRun& run, const data::SampleSet& samples,
                       const Cancellation* cancellation = nullptr);

/// Returns the values of the columns that a signature takes, in its order. Fails with InvalidArgument if one is missing.
Result<std::vector<Tensor>> inputs_of(const ModelSignature& signature, const data::Dataset& batch);

}  // namespace troupe::runs
