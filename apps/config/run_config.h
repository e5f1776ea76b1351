// RunConfig: a run file, checked and typed. What each key means, its range and default: run_schema.cpp.
// Made once by load_run_config(), then read only. Paths in it are absolute. Times are seconds.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/config/evaluate.h"
#include "apps/config/schema.h"
#include "apps/data/options.h"
#include "messages/env/disk.h"

namespace troupe::config {

struct Run {
  std::string name;
  std::string
      directory;  ///< under it stands NAME/NNN/ of each run; as given, so relative to the current folder
  uint64_t seed = 0;
  int threads = 0;  ///< 0: as many as the machine has cores
};

struct Initializer {
  std::string
      type;  ///< zeros ones constant uniform normal truncated_normal glorot_uniform glorot_normal he_normal
  double value = 0;                 ///< constant
  double minimum = 0, maximum = 0;  ///< uniform
  double mean = 0, stddev = 0;      ///< normal, truncated_normal
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
  std::string type;        ///< dense
  std::string activation;  ///< linear, or a constructor of the op table
  int64_t units = 0;
  bool bias = true;
  std::string initializer;
  SourceLocation place;
};

struct Model {
  std::vector<Variable> variables;
  std::vector<Definition> graph;
  std::vector<Layer> layers;  ///< over `input`; the last one yields "output"
  std::string input;
};

struct Optimizer {
  std::string type;  ///< sgd momentum adam
  double learning_rate = 0;
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0, beta2 = 0, epsilon = 0;
};

struct EarlyStop {
  std::string monitor;  ///< "valid/accuracy"
  bool higher_is_better = false;
  int64_t patience = 0;  ///< epochs
  double min_delta = 0;
  bool keep_best = false;
};

enum class ReplicationMode : uint8_t { Local, Sync, Async };

struct Replication {
  ReplicationMode mode = ReplicationMode::Local;
  int64_t shards = 0;  ///< as given; 0: see RunConfig::shards()
};

struct Checkpoint {
  Period every;
  int64_t keep = 0;
  bool on_signal = true;
};

struct Fault {
  int64_t max_restarts = 0;
  std::chrono::nanoseconds start_timeout{}, heartbeat{};
};

struct Train {
  Text loss;
  Optimizer optimizer;
  std::vector<Definition> metrics;
  std::optional<int64_t> max_epochs, max_steps;
  std::optional<EarlyStop> early_stop;
  Replication replication;
  Checkpoint checkpoint;
  Fault fault;
};

/// Tasks in this process: how many of each job, and the CPU devices of each task.
struct Cluster {
  std::map<std::string, int64_t> tasks;
  int64_t devices = 1;
};

struct RunConfig {
  Run run;
  data::Options data;
  int64_t batch = 0;
  bool shuffle = true;
  Model model;
  Train train;
  Cluster cluster;

  std::shared_ptr<const Document> document;  ///< for diagnostics that point into it

  /// The logical shards of a batch: by default one per worker, and one where gradients are not replicated.
  int64_t shards() const {
    if (train.replication.mode == ReplicationMode::Local) return 1;
    if (train.replication.shards != 0) return train.replication.shards;
    const auto workers = cluster.tasks.find("worker");
    return workers == cluster.tasks.end() ? 1 : workers->second;
  }

  /// Everything as it will be run, defaults included: a run file that means the same.
  std::string effective_toml() const { return to_toml(document->root()); }
};

/// Reads and checks a run file, `options` ("a.b=value") laid over it; every expression is checked against the op table.
/// InvalidArgument (exit code 2) with every mistake in one text, or saying why the file cannot be read.
Result<RunConfig> load_run_config(Disk& disk, const std::string& path, std::span<const std::string> options,
                                  std::shared_ptr<const OpTable> ops);
/// The same from memory; relative paths lie under `folder`.
Result<RunConfig> parse_run_config(std::string text, const std::string& file, const std::string& folder,
                                   std::span<const std::string> options, std::shared_ptr<const OpTable> ops);

/// InvalidArgument, with the nearest name, for a job that has no part in a training.
Status check_training_job(const std::string& job);

/// Every key a run file may have, those of the formats of data (apps/data/format.h) included.
std::vector<Key> run_schema();

}  // namespace troupe::config
