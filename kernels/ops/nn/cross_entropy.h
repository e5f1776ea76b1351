// Softmax cross entropy: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// For each row: loss = -sum labels log softmax(features); backprop = softmax(features) - labels. All have one dtype.
struct SoftmaxCrossEntropyArguments {
  const Tensor& features;  ///< broadcasts to the shape of backprop, as do the labels
  const Tensor& labels;
  Tensor& loss;      ///< [batch]
  Tensor& backprop;  ///< [batch, classes]; one class or more when it has rows
};

/// InvalidArgument when features and labels do not broadcast to a matrix, or its rows have no classes.
Result<SoftmaxCrossEntropyArguments> check_softmax_cross_entropy(KernelContext& context);

/// The same with labels that are 1 for one class of each row and 0 for the others. The elements of `labels` are not checked yet:
/// one outside [0, classes) is InvalidArgument, as check_indices() says it.
struct SparseSoftmaxCrossEntropyArguments {
  const Tensor& features;  ///< [batch, classes]
  const Tensor& labels;    ///< [batch]: int32 or int64
  Tensor& loss;            ///< [batch]
  Tensor& backprop;        ///< [batch, classes]; one class or more when it has rows
};

/// InvalidArgument when features is no matrix, its rows have no classes, or there is not one label for each row.
Result<SparseSoftmaxCrossEntropyArguments> check_sparse_softmax_cross_entropy(KernelContext& context);

}  // namespace troupe
