// LossScaling keeps the gradients of half floats from becoming 0: they are those of the loss times a large number, and are
// divided by it before anything else is done with them (Micikevicius et al. 2018). The scale is fixed, or follows what the
// gradients allow: it is halved when some gradient is not finite, and that update is left out; it is doubled after many updates.
// Scales are powers of two if they begin as one, so that the division is exact. Uses only the public builder and throws Error as
// it does. Public header; one thread at a time per graph.
//
//   nn::LossScaling scaling(g, nn::LossScaling::Dynamic{});
//   auto gradients = scaling.unscaled(g, nn::compute_gradients(g, scaling.scaled(g, loss)));
//   gradients = scaling.where_finite(g, gradients);
//   const Output step = g.group({nn::Adam(1e-3).apply_gradients(g, gradients), scaling.update(g, strategy)});
#pragma once

#include <optional>

#include "apps/nn/gradients.h"
#include "apps/nn/replication_strategy.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class LossScaling {
 public:
  struct Dynamic {
    double initial = 65536;     ///< the first scale
    int64_t grow_after = 2000;  ///< the number of updates in a row after which the scale is doubled
  };

  /// A fixed scale. Throws InvalidArgument if it is not positive.
  explicit LossScaling(double scale);
  /// A scale in the variable "loss_scale", whose updates are counted in "loss_scale_age". Throws InvalidArgument if a number of
  /// `options` is not positive.
  LossScaling(const Scope& scope, const Dynamic& options);

  bool is_dynamic() const { return state_.has_value(); }

  /// Returns the loss times the scale, of which the gradients are to be computed.
  Output scaled(const Scope& scope, Output loss) const;
  /// Returns the gradients of the loss from those of scaled(). Each is divided in its scope `at`; empty: in `scope`.
  std::vector<VariableGradient> unscaled(const Scope& scope, std::vector<VariableGradient> gradients,
                                         const ScopeOfGradient& at = {}) const;
  /// For a dynamic scale, called once: returns gradients that are there only if all of them are finite. Otherwise the step does not
  /// run what depends on one of them. A finite gradient whose sum of squares overflows a float counts as infinite.
  std::vector<VariableGradient> where_finite(const Scope& scope, std::vector<VariableGradient> gradients,
                                             const ScopeOfGradient& at = {});
  /// For a dynamic scale, after where_finite(): returns a target that halves or doubles the scale if need be.
  Output update(const Scope& scope, ReplicationStrategy& strategy) const;

 private:
  /// The variables of a dynamic scale.
  struct State {
    Output scale, age;
  };

  Output factor(const Scope& scope, DType dtype, bool inverse) const;

  double fixed_ = 1;
  int64_t grow_after_ = 0;
  std::optional<State> state_;
  std::optional<Output> finite_;  ///< whether all gradients are finite
};

}  // namespace troupe::nn
#pragma GCC visibility pop
