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

/// A part of an output: an element of a list, or zeros if it was never set.
struct ListPart {
  Tensor element;  ///< invalid: never set
  Tensor output;   ///< of as many elements
};
using ListParts = std::vector<ListPart>;

/// Checks TensorListStack; part i is row i of the output. Fails with InvalidArgument if the list does not have num_elements
/// elements, or their common shape is not known.
Result<ListParts> check_list_stack(KernelContext& context);
void compute_list_parts(const ListParts& parts, DeviceContext& device);

/// Check TensorListGather; part i is row i of the output. And TensorListConcat, whose parts are one behind the other; output 1 is
/// complete. Fail with InvalidArgument if elements do not fit each other, or a shape is not known.
Result<ListParts> check_list_gather(KernelContext& context);
Result<ListParts> check_list_concat(KernelContext& context);

// What all ops on lists use.

/// Returns the shape that an argument element_shape means: a vector, in which -1 is an unknown dimension, or the scalar -1.
Result<PartialShape> element_shape_in(const Tensor& tensor);
/// Makes a new list as output 0.
Result<TensorList*> new_list(KernelContext& context, DType dtype, PartialShape element_shape);
/// Returns the list of input 0 as output 0, for a change: a copy of `from` if somebody else holds it.
Result<TensorList*> changed_list(KernelContext& context, const TensorList& from);
/// Allocates output 0 for `count` tensors of a shape, and returns it.
Result<Tensor*> stacked_output(KernelContext& context, const TensorList& list, int64_t count,
                               const PartialShape& shape);

}  // namespace troupe
