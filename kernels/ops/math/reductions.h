// Reductions over axes: the checks on the host, and the arguments that they return to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"
#include "kernels/loops/axis_reduction.h"

namespace troupe {

/// Each element of the output combines `count` elements of the input: those along the reduced axes.
struct ReductionArguments {
  const Tensor& input;
  /// Null if count is 1: the output is the input with another shape and nothing is computed.
  Tensor* output;
  /// Axes of the input. The output has the other axes in their order, and these with size 1 if they are kept.
  AxisSet reduced;
  int64_t count;  ///< if 0, the output is filled with the neutral element, or with NaN for a mean
};

/// Returns the axes that a host input lists. Fails with InvalidArgument if it has more than one dimension.
Result<Dims> listed_axes(const Tensor& axes);
/// Checks a reduction of input 0 over these axes and allocates the output. Fails with InvalidArgument if an axis is outside
/// [-rank, rank), or stands for the dimension of another one.
Result<ReductionArguments> reduction_arguments(KernelContext& context, std::span<const int64_t> axes,
                                               bool keep_dims);

/// Checks ops whose host input 1 lists the axes. Fails with InvalidArgument if that input has more than one dimension or an
/// axis is outside [-rank, rank).
class ReductionCheck {
 public:
  explicit ReductionCheck(const PrepareContext& context) : keep_dims_(context.attr<bool>("keep_dims")) {}
  Result<ReductionArguments> operator()(KernelContext& context) const;

 private:
  bool keep_dims_;
};

/// Checks Mean. Fails with InvalidArgument for a mean of zero integers, too.
class MeanCheck : public ReductionCheck {
 public:
  using ReductionCheck::ReductionCheck;
  Result<ReductionArguments> operator()(KernelContext& context) const;
};

/// Returns the CPU kernel of an op that sums over the axes that `check` determines.
KernelDef sum_kernel(const char* op, Result<ReductionArguments> (*check)(KernelContext&));
/// Returns the reducer that sums elements of a dtype, which is not a narrow float.
Reducer sum_reducer(DType dtype);

/// Begins the definition of an op that reduces input 0, of type `type`, over the axes that input 1 lists.
OpDefBuilder reduction_op(const char* name, const char* type);
/// For gradients of such ops: returns `x`, which has the shape of the output, with axes of size 1 where the input was
/// reduced, so that it broadcasts against the input. A scalar broadcasts without that.
Output with_kept_axes(const GradientContext& context, Output x);

}  // namespace troupe
