// Gradient sums: the arithmetic of accumulators. Gradients are added in the order of the calls, in their own dtype. Owned by the
// accumulator role; one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "actors/services/accumulator/accumulator_spec.h"
#include "devices/device.h"

namespace troupe {

class GradientSum {
 public:
  virtual ~GradientSum() = default;
  /// Adds the components of a gradient: its values, or the numbers of its rows, the rows and, if it is known, the shape of the
  /// whole tensor. Rows of the same number in one gradient are added and count once. Fails with InvalidArgument, and changes
  /// nothing, if the gradient does not fit the spec or the gradients before it.
  virtual Status add(const std::vector<Tensor>& gradient, DeviceContext& device) = 0;
  /// The bytes that finish() moves.
  virtual size_t bytes() const = 0;
  /// Returns the components of the sum or of the mean. There must be a gradient. Called once.
  virtual Result<std::vector<Tensor>> finish(DeviceContext& device) = 0;
};

std::unique_ptr<GradientSum> make_gradient_sum(const AccumulatorSpec& spec);

}  // namespace troupe
