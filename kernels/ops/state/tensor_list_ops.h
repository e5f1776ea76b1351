// Lists of tensors: the checks on the host, and the arguments that they return to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the checks. A list is in host memory; its elements are in the memory of
// the device.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/tensor_list.h"

namespace troupe {

/// An element of a list as an output: the tensor itself, or zeros if it was never set.
struct ListElementArguments {
  Tensor* zeros;  ///< the output to fill with zeros, or null if the output is complete
};

/// Checks TensorListGetItem. Fails with InvalidArgument if the index is out of range, or the element was never set and its
/// shape is not known.
Result<ListElementArguments> check_list_get_item(KernelContext& context);
/// Checks TensorListPopBack; output 0 is the list without the element. Fails with InvalidArgument if the list is empty, or the
/// element was never set and its shape is not known.
Result<ListElementArguments> check_list_pop_back(KernelContext& context);

/// Row i of output = element i of the list, or zeros if it was never set.
struct TensorListStackArguments {
  const TensorList& list;
  Tensor& output;  ///< [number of elements, then the shape of an element]
};

/// Fails with InvalidArgument if the list does not have num_elements elements, or their common shape is not known.
Result<TensorListStackArguments> check_list_stack(KernelContext& context);

}  // namespace troupe
