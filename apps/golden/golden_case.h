// Golden cases: a graph that TensorFlow wrote, the feeds of its steps, and the results that TensorFlow computed. docs/golden.md
// describes the format of the files. Plain values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/build/graph.h"
#include "messages/env/disk.h"

namespace troupe::golden {

struct Step {
  std::vector<std::pair<std::string, Tensor>> feeds;
  std::vector<std::string> targets, fetches;
  std::vector<Tensor> expected;       ///< one for each fetch; empty if `failure` is set
  double relative = 0, absolute = 0;  ///< tolerances; see Tolerance
  std::optional<Code> failure;        ///< the error with which the step must fail
};

/// Asks Troupe to add the gradients of the tensor `of` with respect to the tensors `by` to the graph. Steps fetch the i-th as
/// "name:i".
struct GradientRequest {
  std::string name, of;
  std::vector<std::string> by;
};

struct Case {
  Graph graph;
  std::vector<GradientRequest> gradients;
  std::vector<Step> steps;
};

/// Loads the case in a folder. Fails with Unimplemented, naming the ops, if the table lacks ops of the graph. Fails with DataLoss
/// or InvalidArgument, naming the file, if a file cannot be read, or if the case lists missing ops although the table has all of
/// them.
Result<Case> load_case(Disk& disk, const std::string& folder, std::shared_ptr<const OpTable> ops);
/// Returns whether `failure`, the error of load_case(), names exactly the ops that the case itself lists as missing.
bool known_to_lack(Disk& disk, const std::string& folder, const Status& failure);

/// Returns the folders of cases at `path` and below it, sorted by name.
Result<std::vector<std::string>> find_cases(Disk& disk, const std::string& path);

}  // namespace troupe::golden
