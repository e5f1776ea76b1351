// Batch spec: what the state of a Batch, Unbatch or UnbatchGrad is made of, as its node says. A plain value.
#pragma once

#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

enum class BatchKind : uint8_t { Batch, Unbatch, BatchGradient };

struct BatchSpec {
  BatchKind kind = BatchKind::Batch;
  std::string name;  ///< the name of its state
  // Of a Batch:
  int64_t max_rows = 0;
  int64_t timeout = 0;              ///< nanoseconds after which a batch is complete that is not full
  int64_t max_batches = 0;          ///< the most batches at a time, the open one included
  std::vector<int64_t> sizes = {};  ///< the allowed numbers of rows, ascending; empty: any

  /// Returns the smallest allowed number of rows that is at least `rows`.
  int64_t padded(int64_t rows) const;
  std::string text() const;
  /// Nodes share a state if they are of one kind. The options of the first one count.
  friend bool operator==(const BatchSpec& a, const BatchSpec& b) { return a.kind == b.kind; }
};

/// Returns the spec of a Batch, Unbatch or UnbatchGrad. Fails with InvalidArgument if an attribute of a Batch is out of range.
Result<BatchSpec> batch_spec(const Node& node);

}  // namespace troupe
