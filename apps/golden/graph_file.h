// GraphFile: a graph of TensorFlow opened in a session of this process, run by names of nodes and tensors as its users know them. One
// thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/runtime.h"
#include "messages/env/disk.h"

namespace troupe::golden {

/// What is run, by name; feeds as "x:0=x.npy".
struct GraphFileOptions {
  std::string file;
  std::vector<std::string> init, feeds, fetches, targets;
  std::string checkpoint =
      {};              ///< prefix of one of TensorFlow (V2), whose values the variables get after `init`
  size_t threads = 0;  ///< 0: as many as cores
  size_t memory = 0;   ///< see RuntimeOptions
  int devices = RuntimeOptions().devices;  ///< the most that the graph may ask for
  bool simplify = true;
};

class GraphFile {
 public:
  /// Reads the graph and what is fed, runs `init`, restores, and prepares the step. Throws Error: DataLoss or NotFound for files,
  /// Unimplemented naming missing ops, InvalidArgument for a graph, a name or a feed that is wrong.
  GraphFile(Disk& disk, const GraphFileOptions& options);

  /// One step; the fetched tensors in order.
  std::vector<Tensor> run(const StepOptions& options = {}) const { return step_.run(feeds_, options); }

 private:
  void read_feeds(Disk& disk, const std::vector<std::string>& feeds);
  void restore(Disk& disk, const std::string& checkpoint);

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Session> session_;
  std::vector<Output> fed_;
  std::vector<Tensor> feeds_;
  PreparedStep step_;
};

}  // namespace troupe::golden
