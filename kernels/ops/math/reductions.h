// Reductions over axes: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/axis_reduction.h"

namespace troupe {

/// Each element of the output combines `count` elements of the input: those along the reduced axes.
struct ReductionArguments {
  const Tensor& input;
  Tensor*
      output;  ///< null when count is 1: the output is the input under another shape, and there is nothing to compute
  AxisSet
      reduced;  ///< axes of the input; the output has the others in their order, and maybe these with length 1
  int64_t count;  ///< 0: the output is filled with the neutral element, of a mean with NaN
};

/// For a reduction of input 0 over these axes: allocates the output. InvalidArgument for an axis outside the rank.
Result<ReductionArguments> reduction_arguments(KernelContext& context, std::span<const int64_t> axes,
                                               bool keep_dims);

/// For ops that list the axes in host input 1. InvalidArgument when it is no vector or an axis is outside the rank.
class ReductionCheck {
 public:
  explicit ReductionCheck(const PrepareContext& context) : keep_dims_(context.attr<bool>("keep_dims")) {}
  Result<ReductionArguments> operator()(KernelContext& context) const;

 private:
  bool keep_dims_;
};

/// For Mean. InvalidArgument for the mean of no integers, too.
class MeanCheck : public ReductionCheck {
 public:
  using ReductionCheck::ReductionCheck;
  Result<ReductionArguments> operator()(KernelContext& context) const;
};

/// The CPU kernel of an op that sums over axes which `check` finds.
KernelDef sum_kernel(const char* op, Result<ReductionArguments> (*check)(KernelContext&));

}  // namespace troupe
