// GradientCompression: gradients in a form that takes fewer bytes between the members of a training. What the form loses of the
// gradient of a shard is kept in a variable beside it and added to the shard's next gradient (error feedback: Seide et al. 2014,
// Karimireddy et al. 2019). These variables are local ones: a run that is resumed begins with zeros. Gradients that are rows travel
// as they are. Uses only the public builder and throws Error as it does. Public header; one thread at a time per graph.
//
//   a shard's gradient -> compressed() -> mean over all shards -> restored() -> update
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apps/nn/gradients.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class GradientCompression {
 public:
  /// Sends gradients as numbers of the dtype bfloat16 or half. A number that half cannot hold is limited to its range.
  explicit GradientCompression(DType narrow);
  /// Sends only the elements with the largest absolute values: `keep` is their share of a gradient, rounded up. 0 < keep <= 1.
  explicit GradientCompression(double keep);

  /// Returns what a shard sends in place of a gradient: numbers of the narrow dtype, or the kept elements as rows of the flat
  /// gradient. `scope` is that of the shard, on its device; the variable that it adds there is named after that of the gradient.
  Gradient compressed(const Scope& scope, const VariableGradient& gradient);
  /// Does the same without a variable: `residual` is what the dense gradients before have lost, of the shape of the variable. Sets
  /// `rest` to what is lost then.
  Gradient compressed(const Scope& scope, const VariableGradient& gradient, Output residual, Output& rest);
  /// Returns the targets that keep what the compressed gradients have lost. All must run in every step, and
  /// local_initializer() before the first.
  const std::vector<Output>& updates() const { return updates_; }

  /// Returns what was sent as floats, in which means are computed.
  Gradient wide(const Scope& scope, const Gradient& sent) const;
  /// Returns a gradient of the shape and dtype of the variable from a mean of what was sent. The mean may be wide; it is rounded to
  /// the narrow dtype, in which members get it.
  Gradient restored(const Scope& scope, const Gradient& mean, Output variable) const;

 private:
  Gradient narrowed(const Scope& scope, Output total, Output& rest) const;
  Gradient largest(const Scope& scope, Output total, int64_t elements, Output& rest) const;

  DType narrow_ = DType::Invalid;
  double keep_ = 0;              ///< 0: narrow numbers
  std::set<NodeId> compressed_;  ///< the variables whose gradients are not sent as they are
  std::vector<Output> updates_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop
