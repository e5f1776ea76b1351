// Run files in C: trains the models that they describe, as "troupe train" does, and evaluates them. A run file does not change; any
// thread. Public header, C11 and C++.
#pragma once

#include "apps/c/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_run_file troupe_run_file;
typedef struct troupe_training troupe_training;
typedef struct troupe_metrics troupe_metrics;

typedef struct troupe_metric {
  const char* name;  ///< "valid/accuracy"
  double value;
} troupe_metric;

/// How far a training is.
typedef struct troupe_progress {
  uint64_t step, last_step;   ///< last_step is 0 if the run file sets no limit
  uint64_t epoch;             ///< from 1
  double loss;                ///< the mean of the epoch so far
  double samples_per_second;  ///< 0: not known yet
} troupe_progress;

/// What has been measured at the end of an epoch.
typedef struct troupe_epoch {
  uint64_t step;
  double epochs;                 ///< how many have been completed
  const troupe_metric* metrics;  ///< they live as long as the call
  size_t metric_count;
} troupe_epoch;

/// Why a training has ended.
typedef int32_t troupe_training_end;
enum {
  TROUPE_COMPLETED = 0,      ///< after train.max_epochs or train.max_steps
  TROUPE_EARLY_STOPPED = 1,  ///< by train.early_stop
  TROUPE_STOPPED = 2,        ///< by the cancellation or a callback
  TROUPE_DIVERGED = 3        ///< the loss is not finite
};

/// Options of a training. Later versions add members behind the last one; `size` says which the caller knows. What is null or zero
/// is not used.
typedef struct troupe_training_options {
  size_t size;         ///< sizeof(troupe_training_options)
  const char* runs;    ///< the folder of runs; null: that of the run file; empty: nothing is written
  const char* resume;  ///< "auto": the newest run of this name; otherwise the folder of a run
  /// A cluster file, whose nodes must be running; null: all is computed in this process.
  const char* cluster;
  uint64_t memory;  ///< see troupe_runtime_options
  const troupe_cancellation* cancellation;
  int64_t progress_interval_ns;  ///< between two calls of `progress`
  void* context;                 ///< what the callbacks get. They run on the thread that trains.
  bool (*progress)(const troupe_progress* progress, void* context);  ///< false ends the training
  bool (*epoch)(const troupe_epoch* epoch, void* context);           ///< false ends the training
  void (*log)(const char* line, void* context);  ///< lines for the user, without line breaks
} troupe_training_options;

/// What a training has yielded.
typedef struct troupe_outcome {
  troupe_training_end end;
  uint64_t steps, epochs;
  double seconds;
  double loss;                   ///< of the last step
  const troupe_metric* metrics;  ///< of the final model
  size_t metric_count;
  const char* folder;      ///< of the run; empty if nothing is written
  const char* checkpoint;  ///< the folder of the last one; empty: none
} troupe_outcome;

/// Reads a run file. `settings` change values of it: "train.max_epochs=3". Fails with InvalidArgument, whose text lists all
/// mistakes with their places.
TROUPE_C troupe_code troupe_run_file_read(const char* path, const char* const* settings, size_t setting_count,
                                          troupe_run_file** file);
/// Does the same for the text of a run file. Paths in it are relative to `folder`.
TROUPE_C troupe_code troupe_run_file_parse(const char* text, const char* folder, const char* const* settings,
                                           size_t setting_count, troupe_run_file** file);
TROUPE_C void troupe_run_file_destroy(troupe_run_file* file);

/// Trains, and returns when the training has ended. `options` may be null. Fails with InvalidArgument if the data or the options
/// are wrong, with NotFound or DataLoss if files are missing or damaged, otherwise with the error of a step.
TROUPE_C troupe_code troupe_train(const troupe_run_file* file, const troupe_training_options* options,
                                  troupe_training** training);
TROUPE_C void troupe_training_destroy(troupe_training* training);
/// Returns what the training has yielded.
TROUPE_C troupe_code troupe_training_outcome(const troupe_training* training, troupe_outcome* outcome);

/// Computes the loss and the metrics of a trained model. `path` is the folder of a run, of a checkpoint or of an exported model;
/// `files` have labelled samples in the format of the run file; none: its part `part`, "train", "valid" or "test"; null: what the
/// training has seen least of.
TROUPE_C troupe_code troupe_evaluate(const char* path, const char* part, const char* const* files,
                                     size_t file_count, troupe_metrics** metrics);
TROUPE_C void troupe_metrics_destroy(troupe_metrics* metrics);
TROUPE_C troupe_code troupe_metrics_all(const troupe_metrics* metrics, const troupe_metric** all,
                                        size_t* count);

#ifdef __cplusplus
}
#endif
