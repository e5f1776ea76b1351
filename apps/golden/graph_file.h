// GraphFile: a TensorFlow graph that is loaded from a file and run in a session of this process, or in a running cluster. Its
// nodes and tensors are given by name. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/runtime.h"
#include "apps/interop/meta_graph.h"
#include "messages/env/disk.h"

namespace troupe::golden {

/// The file and the step to run. Nodes and tensors are given by name; a feed is written "x:0=x.npy".
struct GraphFileOptions {
  std::string file;
  std::vector<std::string> init, feeds, fetches, targets;
  /// The prefix of a TensorFlow checkpoint (V2) from which variables are restored after `init`; empty: none.
  std::string checkpoint = {};
  size_t threads = 0;                      ///< 0: one per core
  size_t memory = 0;                       ///< in bytes; see RuntimeOptions::memory
  int devices = RuntimeOptions().devices;  ///< the most devices that the graph may use
  bool simplify = true;
  bool check_finite = false;  ///< see SessionOptions::check_finite
  /// Set: the steps run in a running cluster, whose variables the graph shares with those of other clients.
  std::optional<MasterOptions> master = {};
};

class GraphFile {
 public:
  /// Reads the graph and the feeds, runs `init`, restores the checkpoint, runs the initialisers and starts the queue runners
  /// that the collections of a MetaGraphDef name, and prepares the step. If neither `init` nor a checkpoint is given, the
  /// initialisers are those of all variables, too, unless a master is given whose clients have given all variables values.
  /// Throws Error: DataLoss or NotFound for a file that is damaged or missing, NotFound for a name that the graph does not
  /// have, Unimplemented, naming them, for ops that Troupe lacks, InvalidArgument for a wrong graph or feed.
  GraphFile(Disk& disk, const GraphFileOptions& options);

  /// Runs one step. Returns the fetched tensors in order. If a queue runner has failed, throws its failure, the cause of that
  /// of the step.
  std::vector<Tensor> run(const StepOptions& options = {}) const;
  /// Returns whether queue runners feed the graph, so that OutOfRange is the end of the input.
  bool has_queue_runners() const { return has_queue_runners_; }

 private:
  const Graph& graph() const { return meta_->graph; }
  void initialize(Disk& disk, const GraphFileOptions& options);
  void run_collection(const std::string& name, const std::string& variables = {});
  Session open_session(const GraphFileOptions& options) const;
  bool has_all_values() const;
  void read_feeds(Disk& disk, const std::vector<std::string>& feeds);
  void restore(Disk& disk, const std::string& checkpoint);

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<interop::MetaGraph> meta_;
  std::unique_ptr<Session> session_;
  std::vector<Output> fed_;
  std::vector<Tensor> feeds_;
  PreparedStep step_;
  bool has_queue_runners_ = false;
};

}  // namespace troupe::golden
