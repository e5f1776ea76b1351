// SpaceToBatch, BatchToSpace and their forms for any number of dimensions: the check on the host, and the arguments that it returns
// to the compute function of each type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"

namespace troupe {

/// The size of a block in each spatial dimension, and for each the elements before and after that the batch has more.
struct Blocks {
  Dims sizes, margins;

  int64_t before(size_t i) const { return margins[2 * i]; }
  int64_t after(size_t i) const { return margins[2 * i + 1]; }
};

/// The spatial dimensions, one for each block size, follow the batch, which is dimension 0. The element at one offset in each block
/// of the tensor with the larger spatial dimensions goes to, or comes from, the entries [offset * batch, (offset + 1) * batch) of
/// the tensor with the larger batch; offsets count a block row by row.
struct SpaceBatchArguments {
  const Tensor& input;
  Tensor& output;
  /// Whether the output is the tensor with the larger batch. It is zero where the input has no element.
  bool to_batch;
  Blocks blocks;
};

/// Fails with InvalidArgument if block sizes are less than 1, margins are negative, or the input does not consist of whole blocks.
Result<SpaceBatchArguments> check_space_batch(KernelContext& context);

}  // namespace troupe
