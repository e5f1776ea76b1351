// Softmax cross entropy: the checks on the host, and the arguments that they return to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// For each row: loss = -sum labels log softmax(features); backprop = softmax(features) - labels. All have one dtype.
struct SoftmaxCrossEntropyArguments {
  const Tensor& features;  ///< broadcasts to the shape of backprop, like the labels
  const Tensor& labels;
  Tensor& loss;      ///< [batch]
  Tensor& backprop;  ///< [batch, classes]; at least one class if it has rows
};

/// Fails with InvalidArgument if features and labels do not broadcast to a matrix, or its rows have no classes.
Result<SoftmaxCrossEntropyArguments> check_softmax_cross_entropy(KernelContext& context);

/// The same for labels that are 1 for one class of each row and 0 for the others. The elements of `labels` are not checked yet:
/// the compute function fails with InvalidArgument, by check_indices(), if one is outside [0, classes).
struct SparseSoftmaxCrossEntropyArguments {
  const Tensor& features;  ///< [batch, classes]
  const Tensor& labels;    ///< [batch]: int32 or int64
  Tensor& loss;            ///< [batch]
  Tensor& backprop;        ///< [batch, classes]; at least one class if it has rows
};

/// Fails with InvalidArgument if features is no matrix, its rows have no classes, or there is not one label for each row.
Result<SparseSoftmaxCrossEntropyArguments> check_sparse_softmax_cross_entropy(KernelContext& context);

}  // namespace troupe
