// Run files in a program, installed as <troupe/training.h>: trains the models that run files describe, as "troupe train" does, in
// this process or on a running cluster, and uses trained models for files. troupe::load (apps/inference/model.h) computes with
// them. Failures are thrown as troupe::Error. Public header: it uses only std and Troupe's own types.
//
//   const auto file = troupe::RunFile::read("digits.toml", {"train.max_epochs=5"});
//   const auto run = file.train({.epoch = [](const troupe::EpochReport& report) { return report.metrics[0].second > 0.01; }});
//   const auto results = troupe::load(run.folder).run({{"image", images}});
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/inference/model.h"
#include "kernels/runtime/cancellation.h"
#include "messages/objects/s3_options.h"
#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

/// "train/loss", "valid/accuracy" and so on, with their values.
using Metrics = std::vector<std::pair<std::string, double>>;

/// How far a training is.
struct TrainingProgress {
  uint64_t step = 0;                  ///< those before a resumption count
  std::optional<uint64_t> last_step;  ///< nothing if the run file sets no limit
  uint64_t epoch = 1;                 ///< from 1
  double loss = 0;                    ///< the mean of the epoch so far
  double samples_per_second = 0;      ///< 0: not known yet
};

/// What has been measured at the end of an epoch or of a training.
struct EpochReport {
  uint64_t step = 0;
  double epochs = 0;  ///< how many have been completed; not a whole number at an end within an epoch
  Metrics metrics;    ///< "train/loss", which is the mean of the epoch, first
};

struct TrainingOptions {
  /// The folder of runs, instead of run.directory of the run file. Empty: nothing is written, and the result is all that the
  /// training yields.
  std::optional<std::string> runs = {};
  /// Empty: a new run; "auto": the newest run of this name, if there is one; otherwise the folder of a run. It goes on from its
  /// last checkpoint.
  std::string resume = {};
  /// A cluster file, whose nodes must be running ("troupe node"). Empty: all is computed in this process.
  std::string cluster = {};
  size_t memory = 0;  ///< see RuntimeOptions::memory
  /// The access to the store of checkpoints, if train.checkpoint.dir is "s3://...". train.checkpoint.endpoint and region of the run
  /// file have precedence.
  std::optional<S3Options> s3 = {};

  /// If non-null, ends the training in order when it is cancelled, with a checkpoint of the last step.
  const Cancellation* cancellation = nullptr;
  /// If not empty, is called after a step, once per interval at most. Ends the training in order if it returns false.
  std::function<bool(const TrainingProgress&)> progress = {};
  std::chrono::nanoseconds progress_interval = std::chrono::seconds(1);
  /// If not empty, is called at the end of each epoch. Ends the training in order if it returns false.
  std::function<bool(const EpochReport&)> epoch = {};
  /// If not empty, receives lines for the user, without line breaks: what is trained, the results of epochs, warnings.
  std::function<void(const std::string&)> log = {};
};

/// Why a training has ended.
enum class TrainingEnd : uint8_t {
  Completed,     ///< after train.max_epochs or train.max_steps
  EarlyStopped,  ///< by train.early_stop
  Stopped,       ///< by the cancellation or a callback
  Diverged,      ///< the loss is not finite; the last checkpoint is an earlier one
};

struct TrainingOutcome {
  TrainingEnd end = TrainingEnd::Completed;
  uint64_t steps = 0, epochs = 0;  ///< those before a resumption count
  double seconds = 0;              ///< the time of training steps and evaluations
  double loss = 0;                 ///< of the last step
  Metrics metrics;                 ///< of the final model: "valid/loss", "test/accuracy", ...
  std::string folder;              ///< of the run; empty if nothing is written
  std::string checkpoint;          ///< the folder of the last one; empty: none
};

/// A run file with its settings. Immutable and cheap to copy; any thread.
class RunFile {
 public:
  /// Reads a run file. `settings` change values of it as --set does: "train.max_epochs=3". Throws InvalidArgument, whose text lists
  /// all mistakes with their places, if the file cannot be read or is wrong.
  static RunFile read(const std::string& path, const std::vector<std::string>& settings = {});
  /// Does the same for the text of a run file. Paths in it are relative to `folder`, and errors call it `name`.
  static RunFile parse(const std::string& text, const std::string& folder = ".",
                       const std::vector<std::string>& settings = {}, const std::string& name = "run file");

  /// Returns an equivalent run file that has the settings and all defaults.
  std::string effective() const;

  /// Trains, and returns when the training has ended. Callbacks run on the calling thread; when one throws, the training ends in
  /// order and the exception is thrown again. Trainings of several threads go on side by side, each with a Runtime of its own.
  /// Throws InvalidArgument if data, settings and options do not fit, NotFound or DataLoss if files are missing or damaged,
  /// otherwise the error of a step, with its place in the run file.
  TrainingOutcome train(const TrainingOptions& options = {}) const;

 private:
  struct Impl;
  explicit RunFile(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// On which samples a model is evaluated.
struct EvaluationOptions {
  std::vector<std::string> files = {};   ///< with labels, in the format of the run file; none: `part` of it
  std::vector<std::string> labels = {};  ///< a file of labels for each of them, if the format has such
  /// "train", "valid" or "test". Empty: what the training has seen least of.
  std::string part = {};
  std::vector<std::string> settings = {};  ///< that change how files are read: "data.delimiter=;"
  LoadOptions load = {};
  /// If non-null, makes the function fail with Cancelled when it is cancelled while the model computes.
  const Cancellation* cancellation = nullptr;
};

/// What a model is to predict.
struct PredictionOptions {
  /// As "troupe predict" takes them, with or without labels; none: `part` of the run file.
  std::vector<std::string> files = {};
  std::string part = {};                  ///< "train", "valid" or "test", whose labels are in the result, too
  std::vector<std::string> outputs = {};  ///< names; none: all outputs of the model
  /// Columns of the files for the result, as texts; of a series those of the last row of each stretch.
  std::vector<std::string> keep = {};
  std::vector<std::string> settings = {};  ///< that change how files are read: "data.delimiter=;"
  LoadOptions load = {};
  /// If non-null, makes the function fail with Cancelled when it is cancelled while the model computes.
  const Cancellation* cancellation = nullptr;
};

/// Returns what a trained model predicts for samples: tensors with a row for each of them, by the names of columns that are kept
/// and of outputs. `path` is as for evaluate(). Throws what load() throws, InvalidArgument unless either files or a part are
/// named, or if the model has no such output, DataLoss, naming the sample, if the model does not take it, and what reading the
/// samples yields.
std::map<std::string, Tensor> predict(const std::string& path, const PredictionOptions& options);

/// Returns the loss and the metrics that the training would find for samples. `path` is the folder of a run, of one of its
/// checkpoints, of an exported model, or of all runs of a name, whose newest one is used. Throws what load() throws,
/// InvalidArgument if the samples do not fit the model, and what reading them yields.
Metrics evaluate(const std::string& path, const EvaluationOptions& options = {});

}  // namespace troupe
#pragma GCC visibility pop
