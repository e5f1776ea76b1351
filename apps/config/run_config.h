// RunConfig: the checked and typed content of a run file. run_schema.cpp defines the meaning, range and default of each key.
// load_run_config() creates it; afterwards it is only read, by any thread. Paths are absolute, except for Run::directory.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/config/evaluate.h"
#include "apps/config/observe_keys.h"
#include "apps/config/schema.h"
#include "apps/data/options.h"
#include "apps/data/ragged/row_parser.h"
#include "messages/env/disk.h"

namespace troupe::config {

struct Run {
  std::string name;
  std::string directory;  ///< contains NAME/NNN/ of each run; may be relative to the current folder
  uint64_t seed = 0;
  int threads = 0;  ///< 0: one per core of the machine
  int gpus = -1;    ///< TaskOptions::gpus
  bool tf32 = false;
};

struct Initializer {
  /// constant, uniform, normal, truncated_normal, or one of nn::weight_initializers.
  std::string type;
  double value = 0;                 ///< for constant
  double minimum = 0, maximum = 0;  ///< for uniform
  double mean = 0, stddev = 0;      ///< for normal and truncated_normal
};

struct Variable {
  std::string name;
  std::vector<int64_t> shape;
  DType dtype = DType::Float;
  Initializer initializer;
  bool trainable = true;
  SourceLocation place;
};

struct Layer {
  std::string type;  ///< dense, conv2d, ...
  std::string name;  ///< as given, or TYPE_NUMBER
  /// The expressions for its inputs, separated by commas. Empty: the result of the layer before.
  std::string input;
  std::string options;  ///< as named arguments of an expression: "units=10, activation=\"relu\""
  SourceLocation place;
};

/// Definitions and layers of which gradients compute everything again that is used only inside.
struct Segment {
  std::string name;
  std::vector<std::string> members;
  SourceLocation place;
};

/// Definitions and layers that are computed on the same device, after those of the stages before.
struct Stage {
  std::vector<std::string> members;
  SourceLocation place;
};

/// A variable or weight that is split over the devices of its stage.
struct SplitWeight {
  std::string name;
  int64_t dimension = 0;  ///< that is cut
  SourceLocation place;
};

struct Model {
  std::vector<Variable> variables;
  std::vector<Definition> graph;
  std::vector<Definition> outputs;  ///< what a trained model yields; empty: what follows from the loss
  std::vector<Layer> layers;        ///< a chain that begins with `input` and ends with "output"
  std::string input;                ///< of the first layer
  std::vector<Segment> recompute;
  std::vector<Stage> stages;  ///< empty: all of the model is one stage
  std::vector<SplitWeight> split;
  int64_t split_over = 1;                ///< the number of devices of each stage
  std::string init_from;                 ///< whose values the weights begin with; empty: none
  std::vector<std::string> init_except;  ///< patterns of the layers and weights that begin as usual
  std::vector<std::string> freeze;       ///< patterns of the layers that are not trained
};

struct Optimizer {
  std::string type;  ///< a name of apps/nn/optimizer_methods.h
  double learning_rate = 0;
  std::map<std::string, double, std::less<>> hyperparameters;  ///< by name; a flag is 0 or 1
};

/// The schedule of the learning rate. Each type has some of the values.
struct Schedule {
  std::string type;
  int64_t warm_up = 0;
  std::vector<int64_t> boundaries;
  std::vector<double> factors;
  int64_t steps = 0;
  double factor = 0, end = 0, power = 0, alpha = 0, period_factor = 0, rate_factor = 0;
  bool staircase = false, cycle = false;
};

/// A metric that is observed from epoch to epoch.
struct Monitor {
  std::string metric;  ///< such as "valid/accuracy"
  bool higher_is_better = false;
  int64_t patience = 0;  ///< in epochs
  double min_delta = 0;
};

struct Plateau {
  Monitor monitor;
  double factor = 0, min_factor = 0;
};

/// By what a number of the optimizer is multiplied for the layers and weights of a name.
struct NamedFactor {
  std::string name;  ///< or a pattern
  double factor = 1;
  SourceLocation place;
};

/// A layer or weight that several names match has the product of their factors.
struct Factors {
  std::vector<NamedFactor> lr, weight_decay;
};

/// The limits of gradients; at most one of them is set.
struct Clip {
  std::optional<double> value, norm, global_norm;
};

/// By what the loss is multiplied before gradients are computed, and these divided.
struct LossScale {
  std::string type;        ///< "fixed" or "dynamic"
  double scale = 1;        ///< dynamic: the first one
  int64_t grow_after = 0;  ///< dynamic: updates in a row after which it is doubled
};

struct EarlyStop {
  Monitor monitor;
  bool keep_best = false;
};

enum class ReplicationMode : uint8_t { Local, Sync, Async, Ssp, Hogwild, AllReduce, LocalSgd };

/// Where the workers of the modes allreduce and local_sgd add tensors up.
enum class Collectives : uint8_t { Auto, Host, Nccl };

struct Replication {
  ReplicationMode mode = ReplicationMode::Local;
  bool follows_cluster = false;    ///< whether the run file leaves the mode to RunConfig::use_tasks()
  int64_t shards = 0;              ///< as given in the file; 0: the default, see RunConfig::shards()
  int64_t backup_workers = 0;      ///< the number of shards for which a round does not wait
  int64_t staleness = 0;           ///< of mode ssp: the number of rounds by which a worker may be ahead
  int64_t average_every = 0;       ///< of mode local_sgd: the number of rounds from one averaging to the next
  std::optional<Optimizer> outer;  ///< of mode local_sgd: what updates the variables in an averaging
  /// Of mode allreduce: whether each worker has the state of the optimizer for a part of the variables only.
  bool shard_optimizer = false;
  Collectives collectives = Collectives::Auto;
  std::string compression = "none";  ///< the form in which gradients travel
  double keep = 0;                   ///< of compression topk: the share of the elements that travel
  /// Of mode sync: the expression that takes the place of the mean of gradients; may be empty.
  Text combine = {};

  /// Returns whether each worker owns some of the variables.
  bool shares_out_variables() const { return mode == ReplicationMode::LocalSgd || shard_optimizer; }
};

struct Checkpoint {
  Period every;
  Period keep_every = {};  ///< how far checkpoints are apart that are kept for good
  int64_t keep = 0;
  bool on_signal = true;
  /// "s3://BUCKET/PREFIX", under which the checkpoints lie in NAME/NNN; empty: in the folder of the run.
  std::string dir = {};
  std::string endpoint = {}, region = {};  ///< of the store; empty: as the environment says
};

struct Fault {
  int64_t max_restarts = 0;
  bool mirror = false;  ///< another task keeps a copy of the variables of each task
  std::chrono::nanoseconds start_timeout{}, trainer_timeout{}, heartbeat{};
};

/// What a run does after a loss that is not a finite number.
enum class OnNan : uint8_t {
  Stop,
  Rollback,  ///< goes on with the weights of a checkpoint and the batches that follow
};

struct Train {
  Text loss;
  std::vector<double> class_weights;  ///< for each class; empty: all samples count alike
  bool balances_classes = false;      ///< the weights follow from the samples (apps/train/data/fit_data.h)
  Optimizer optimizer;
  std::optional<Schedule> schedule;
  std::optional<Plateau> plateau;
  std::optional<LossScale> loss_scale;
  Clip clip;
  double weight_decay = 0;
  Factors factors;
  int64_t micro_batches = 1;      ///< the number of parts of a shard that are computed one after the other
  std::optional<double> average;  ///< the decay of the moving averages of weights
  std::vector<Definition> metrics;
  std::optional<int64_t> max_epochs, max_steps;
  std::optional<EarlyStop> early_stop;
  OnNan on_nan = OnNan::Stop;
  bool check_finite = false;
  Replication replication;
  Checkpoint checkpoint;
  Fault fault;
};

/// The number of tasks of each job, and of CPU devices of each task.
struct Cluster {
  std::map<std::string, int64_t> tasks;
  bool are_processes = false;  ///< whether the tasks are processes, each with a session of its own
  int64_t devices = 1;
  /// The tasks that own the variables, which are shared out by their bytes; a task may occur more than once. Empty: the parameter
  /// servers or, if there are none, a worker.
  std::vector<std::string> owners = {};
  /// Whether workers without parameter servers add tensors up on their GPUs (apps/train/rounds/gpu_exchange.h).
  bool exchanges_on_gpus = false;
  /// Of the samples to train on, as the process that trains reads them (data::Fingerprint). Workers must read the same. No samples:
  /// it is not known.
  int64_t samples = 0;
  uint32_t checksum = 0;
};

/// Where the samples are kept after data.map.
enum class Cache : uint8_t { None, Memory, File };

/// Batches of samples of like length.
struct Bucketing {
  std::string by;  ///< the ragged column whose lengths count
  std::vector<int64_t> bounds;
};

struct RunConfig {
  Run run;
  data::Options data;
  /// Whether the columns of a table stay as the table has them, as a trained model takes them.
  bool raw_columns = false;
  int64_t batch = 0;
  bool shuffle = true;
  /// Columns that are computed from those of the files, sample by sample; `augment` only for training. Each may use those before.
  std::vector<Definition> map, augment;
  Cache cache = Cache::None;
  std::string cache_folder;                ///< of Cache::File; empty: beside the runs of this name
  std::vector<data::RaggedColumn> ragged;  ///< columns that are made of the others, after `map` and `augment`
  std::optional<Bucketing> bucket;         ///< for training alone
  Model model;
  Train train;
  Cluster cluster;
  Observe observe;

  std::shared_ptr<const Document> document;  ///< for diagnostics that point into the file

  /// Makes these tasks, processes of a cluster or parts of this process, take part in the run. If the run file leaves the mode of
  /// replication to it, the mode follows: sync with parameter servers, allreduce with several processes that are workers.
  void use_tasks(std::map<std::string, int64_t> tasks, bool are_processes);

  /// Returns whether a step computes stages, micro-batches or split variables: then all workers take part in the steps of one
  /// graph.
  bool is_pipelined() const { return devices_of_model() > 1 || train.micro_batches > 1; }
  int64_t devices_of_model() const { return stages() * model.split_over; }
  int64_t stages() const { return std::max<int64_t>(1, static_cast<int64_t>(model.stages.size())); }
  /// Returns how many groups of workers compute a shard each, by itself: one per worker or, if the model needs several devices,
  /// as many as there are devices for; at least one.
  int64_t groups() const {
    const int64_t needed = devices_of_model();
    return needed == 1 ? workers() : std::max<int64_t>(1, workers() * devices() / needed);
  }
  /// Returns the number of CPU devices of each task. A single worker has at least those that the model needs.
  int64_t devices() const {
    return workers() == 1 ? std::max(cluster.devices, devices_of_model()) : cluster.devices;
  }
  /// Returns the number of workers; 1 if the cluster has none.
  int64_t workers() const {
    const auto at = cluster.tasks.find("worker");
    return at == cluster.tasks.end() ? 1 : at->second;
  }
  /// Returns the number of logical shards of a batch: by default one per group, or one if mode is "local". In mode "hogwild", the
  /// number of threads that compute them, by default one per compute thread.
  int64_t shards() const;

  /// Returns an equivalent run file in which options are applied and defaults and the mode of replication are filled in.
  std::string effective_toml() const;
};

/// Reads a run file, applies `options` ("a.b=value"), and checks the result; expressions are checked against the op table. Fails
/// with InvalidArgument (exit code 2) if the file cannot be read or has mistakes, all of which the error lists.
Result<RunConfig> load_run_config(Disk& disk, const std::string& path, std::span<const std::string> options,
                                  std::shared_ptr<const OpTable> ops);
/// Does the same for the text of a file. Paths are relative to `folder`.
Result<RunConfig> parse_run_config(std::string text, const std::string& file, const std::string& folder,
                                   std::span<const std::string> options, std::shared_ptr<const OpTable> ops);

/// Fails with InvalidArgument, suggesting the nearest name, if the job takes no part in training.
Status check_training_job(const std::string& job);

/// Returns all keys that a run file may have, including those of the data formats (apps/data/format.h).
std::vector<Key> run_schema();

}  // namespace troupe::config
