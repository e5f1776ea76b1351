// ZerosLike and AddN of lists of tensors: what every type of device computes after the check on the host, which makes the lists and
// allocates their elements, also those of lists in lists.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Fills the elements of new lists with zeros.
struct ListZerosLikeArguments {
  std::vector<Tensor> zeros;
};

/// InvalidArgument when the input holds no list.
Result<ListZerosLikeArguments> check_list_zeros_like(KernelContext& context);

/// sum = the terms, which have its dtype and shape, added one after the other: half and bfloat16 are rounded after each.
struct ListElementSum {
  std::vector<const Tensor*> terms;  ///< two or more
  Tensor sum;
};

/// Computes the elements of a new list.
struct ListAddNArguments {
  std::vector<ListElementSum> sums;
};

/// InvalidArgument when an input holds no list, the lists differ in length or dtype, their elements differ in shape, or elements
/// are no numbers.
Result<ListAddNArguments> check_list_add_n(KernelContext& context);

}  // namespace troupe
