// Exchanges: the nodes that turn one distribution of a tensor over a list of devices into another
// (graph/passes/split/distribution.h). What travels is cut where it is, so only what a device needs is sent to it. Sums are made in
// the order of the devices.
//
//   S -> B      ConcatV2 on each device that needs the whole            (all-gather)
//   P -> B      AddN on the first device                                (all-reduce)
//   B -> S      Slice of the whole, one for each device
//   P -> S      Slices of all terms, AddN of those of a device there    (reduce-scatter)
//   S -> S'     Slices of all parts, ConcatV2 of those of a device there (all-to-all)
//
// Used by the pass that splits ops only. Functions throw Error. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/build/scope.h"
#include "graph/passes/split/distribution.h"

namespace troupe {

class Exchanges {
 public:
  /// Nodes are added in the scope `root`, whose prefix no other node has.
  Exchanges(const Scope& root, std::vector<std::string> devices);

  const std::vector<std::string>& devices() const { return devices_; }
  int64_t count() const { return static_cast<int64_t>(devices_.size()); }
  /// Returns the scope of device `part`, in which nodes have names that begin with this prefix.
  Scope on(int64_t part, const std::string& prefix) const;
  /// Returns the length of a dimension of x when the step runs, an int32 vector of one element.
  static Output length(const Scope& scope, Output x, int64_t dimension);

  /// Returns the whole tensor on `device`; empty: on the first device of the list.
  Output whole(const DistributedTensor& tensor, const std::string& device);
  /// Returns the parts of a whole tensor, whose dimension has this extent.
  DistributedTensor split(Output whole, int64_t dimension, const Extent& extent);
  /// Returns other parts of a tensor in parts. `extent` is that of the new dimension.
  DistributedTensor split(const DistributedTensor& tensor, int64_t dimension, const Extent& extent);

  /// Returns part `part` of x along a dimension of this extent, computed beside x.
  Output slice(Output x, int64_t dimension, const Extent& extent, int64_t part) const;

 private:
  Output joined(const Scope& scope, const std::vector<Output>& parts, int64_t dimension) const;
  Output sum(const Scope& scope, const std::vector<Output>& terms) const;
  std::string prefix_of(Output output) const;

  const Scope root_;
  Graph& graph_;
  const std::vector<std::string> devices_;
  std::map<std::pair<std::vector<Output>, std::string>, Output> wholes_;  ///< by parts and device
};

}  // namespace troupe
