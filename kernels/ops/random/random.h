// Random tensors: the checks on the host, and the arguments that they return to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the checks. random.cpp says which bits must be drawn; every type of
// device draws the same.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/philox.h"
#include "kernels/ops/random/generator.h"

namespace troupe {

/// Which of the node's numbers are drawn: row i of the output has those of row first + i * stride.
struct DrawnRows {
  uint64_t first = 0, stride = 1;
  uint64_t row = 0;  ///< the number of elements of a row

  /// Returns the position of an element of the output among the node's numbers.
  TROUPE_ANY uint64_t position(uint64_t element) const {
    return stride == 1 ? first * row + element : (first + element / row * stride) * row + element % row;
  }
};

/// output = numbers drawn from the distribution of the op.
struct RandomArguments {
  Tensor& output;  ///< half, float or double
  Philox philox;
  DrawnRows rows;  ///< those of the node's attribute _slice (graph/build/row_slice.h), or else all
};

/// Checks RandomUniform, RandomStandardNormal and TruncatedNormal. Fails with InvalidArgument if `shape` is no vector of
/// dimensions.
Result<RandomArguments> check_random(KernelContext& context);

/// output = integers in [least, least + range), each with equal probability.
struct RandomUniformIntArguments {
  Tensor& output;  ///< int32 or int64
  Philox philox;
  int64_t least;
  uint64_t range;  ///< at least 1 if the output has elements
};

/// Returns a number in [0, limit): the upper half of the product (Lemire 2019, without rejection).
TROUPE_ANY inline uint32_t scaled(uint32_t word, uint32_t limit) {
  return static_cast<uint32_t>(uint64_t{word} * limit >> 32);
}
TROUPE_ANY inline uint64_t scaled(uint64_t word, uint64_t limit) {
  __extension__ using Product = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Product>(word) * limit >> 64);
}
/// Returns integer i of a group.
template <class T>
TROUPE_ANY T uniform_integer(const Words& words, size_t i, int64_t least, uint64_t range) {
  using Unsigned = std::make_unsigned_t<T>;
  const Unsigned above = scaled(bits_of<T>(words, i), static_cast<Unsigned>(range));
  return static_cast<T>(static_cast<Unsigned>(least) + above);
}

/// Fails with InvalidArgument if minval or maxval is no scalar, or if minval is not below maxval and the output has elements.
Result<RandomUniformIntArguments> check_random_uniform_int(KernelContext& context);

/// output = the rows of value in random order. A scalar is one row.
struct RandomShuffleArguments {
  const Tensor& value;
  Tensor& output;
  Philox philox;
  size_t rows, row;  ///< the number of rows, and the number of elements of a row
};

Result<RandomShuffleArguments> check_random_shuffle(KernelContext& context);
/// Returns which row of value becomes each row of output.
std::vector<int64_t> shuffled_order(const RandomShuffleArguments& arguments);

}  // namespace troupe
