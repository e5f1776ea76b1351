// Golden cases: a graph that TensorFlow wrote, what was fed to it, and what TensorFlow answered (docs/golden.md has the format). Plain
// values.
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
  std::vector<Tensor> expected;  ///< one for each fetch, unless it fails
  double relative = 0, absolute = 0;
  std::optional<Code> failure;
};

/// Gradients that Troupe adds to the graph: steps fetch the i-th as "name:i".
struct GradientRequest {
  std::string name, of;
  std::vector<std::string> by;
};

struct Case {
  Graph graph;
  std::vector<GradientRequest> gradients;
  std::vector<Step> steps;
};

/// The case in a folder. Unimplemented when its graph has ops that the table lacks, naming them; DataLoss or InvalidArgument, with
/// the file, for what cannot be read, and for a case that says that ops are missing which are not.
Result<Case> load_case(Disk& disk, const std::string& folder, std::shared_ptr<const OpTable> ops);
/// Whether the case itself says that the table lacks the ops that this failure to load it names.
bool known_to_lack(Disk& disk, const std::string& folder, const Status& failure);

/// The folders of cases at `path` and below it, in order of their names.
Result<std::vector<std::string>> find_cases(Disk& disk, const std::string& path);

}  // namespace troupe::golden
