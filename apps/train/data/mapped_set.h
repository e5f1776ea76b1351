// MappedSet: samples whose columns are computed by a graph from those of another set. It has a runtime of its own, so that the
// columns are computed beside the steps of the training. Immutable; any thread.
#pragma once

#include <functional>
#include <memory>

#include "apps/config/data_map.h"
#include "apps/config/diagnostics.h"
#include "apps/data/sample_set.h"

namespace troupe::train {

struct ColumnGraph;  ///< the graph and its session

/// Returns how many threads make batches: as many as compute.
size_t threads_of(const config::RunConfig& config);

/// Adds the nodes that compute columns from those of a set. Returns all columns.
using ColumnMap = std::function<config::Columns(const Scope& scope, const config::Columns& columns,
                                                config::Diagnostics& diagnostics)>;

class MappedSet final : public data::SampleSet {
 public:
  /// `definitions` have the locations of errors in the run file; columns without a definition come from data.columns. Throws
  /// InvalidArgument, with a location, if an expression is wrong or the shape of a result is not known.
  MappedSet(std::shared_ptr<const data::SampleSet> set, const ColumnMap& map,
            const std::vector<config::Definition>& definitions, const config::RunConfig& config);

  int64_t samples() const override { return set_->samples(); }
  const data::Dataset& columns() const override { return columns_; }
  std::unique_ptr<data::Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override;

 private:
  std::shared_ptr<const data::SampleSet> set_;
  std::shared_ptr<const ColumnGraph> graph_;  ///< which the batches use, too
  data::Dataset columns_;
};

}  // namespace troupe::train
