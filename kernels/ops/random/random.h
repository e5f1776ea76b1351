// Random tensors: what every type of device computes after the check on the host. Which bits a type of device must draw is said in
// random.cpp: every one draws the same.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/philox.h"

namespace troupe {

/// output = numbers drawn from the distribution of the op.
struct RandomArguments {
  Tensor& output;  ///< half, float or double
  Philox philox;
};

/// For RandomUniform, RandomStandardNormal and TruncatedNormal. InvalidArgument when the shape is no vector of dimensions.
Result<RandomArguments> check_random(KernelContext& context);

/// output = integers in [least, least + range), each with equal probability.
struct RandomUniformIntArguments {
  Tensor& output;  ///< int32 or int64
  Philox philox;
  int64_t least;
  uint64_t range;  ///< at least 1 when the output has elements
};

/// InvalidArgument when minval or maxval is no scalar, or minval is not below maxval and the output has elements.
Result<RandomUniformIntArguments> check_random_uniform_int(KernelContext& context);

/// output = the rows of value in random order. A scalar is one row.
struct RandomShuffleArguments {
  const Tensor& value;
  Tensor& output;
  Philox philox;
  size_t rows, row;  ///< the number of rows, and the elements of one
};

Result<RandomShuffleArguments> check_random_shuffle(KernelContext& context);

}  // namespace troupe
