// Reads the keys of [observe], which say how a run can be watched. Functions without state; any thread.
#pragma once

#include <string>
#include <vector>

#include "apps/config/evaluate.h"
#include "apps/config/reader.h"

namespace troupe::config {

/// How a run can be watched.
struct Observe {
  bool tensorboard = true;         ///< whether the run writes event files of TensorBoard
  bool histograms = false;         ///< whether these have histograms of the weights
  std::vector<Definition> images;  ///< of tensors whose images they show at the end of each epoch
  /// Where the page and the counters for Prometheus are served: "ADDRESS:PORT". None: they are not.
  std::vector<std::string> page, metrics;
  std::vector<std::string> hosts;  ///< the names that requests may use for this machine
};

/// Returns what the table [observe], which has been checked, says, but for its expressions.
Observe read_observe(const Reader& observe);

}  // namespace troupe::config
