// Lists of tensors: what every type of device computes after the check on the host. The list itself lies on the host; its elements
// lie in the memory of the device.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/tensor_list.h"

namespace troupe {

/// The element of a list as an output: the tensor itself, or zeros when it was never set.
struct ListElementArguments {
  Tensor* zeros;  ///< the output to be filled with zeros, or null: it is complete
};

/// For TensorListGetItem. InvalidArgument when the index is out of range, or the shape of an element that was never set is not
/// known.
Result<ListElementArguments> check_list_get_item(KernelContext& context);
/// For TensorListPopBack; the list without the element is output 0. InvalidArgument when the list is empty, or as above.
Result<ListElementArguments> check_list_pop_back(KernelContext& context);

/// Row i of output = element i of the list, or zeros when it was never set.
struct TensorListStackArguments {
  const TensorList& list;
  Tensor& output;  ///< [elements of the list, shape of an element]
};

/// InvalidArgument when the list has not num_elements elements, or their common shape is not known.
Result<TensorListStackArguments> check_list_stack(KernelContext& context);

}  // namespace troupe
