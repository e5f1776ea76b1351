// ZerosLike and AddN of lists of tensors: the checks on the host, and the arguments that they return to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the checks. The checks make the lists and allocate
// their elements, also those of lists in lists, where the old ones lie: elements of int32 lie on the host
// (computes_integers_on_host).
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Fills the elements of new lists with zeros.
struct ListZerosLikeArguments {
  std::vector<Tensor> zeros;
};

/// Fails with InvalidArgument if the input is no list.
Result<ListZerosLikeArguments> check_list_zeros_like(KernelContext& context);

/// sum = the terms, which have its dtype and shape, added one after the other; half and bfloat16 are rounded after each
/// addition.
struct ListElementSum {
  std::vector<const Tensor*> terms;  ///< at least two
  Tensor sum;
};

/// Computes a sum of terms in host memory.
void add_on_host(const ListElementSum& addition, Pool& pool);

/// Computes the elements of a new list.
struct ListAddNArguments {
  std::vector<ListElementSum> sums;
};

/// Fails with InvalidArgument if an input is no list, the lists differ in length or dtype, their elements differ in shape, or
/// the elements are no numbers.
Result<ListAddNArguments> check_list_add_n(KernelContext& context);

}  // namespace troupe
