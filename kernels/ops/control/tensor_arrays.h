// TensorArrays (kernels/core/tensor_array.h): the checks on the host, and the arguments that they return to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/tensor_array.h"

namespace troupe {

/// Parts of an output, in the order in which they stand in it along its first dimension.
struct ElementPart {
  TensorArray::Element element;
  Tensor output;  ///< the part of the output, of as many elements
};
using ElementParts = std::vector<ElementPart>;

/// A flow, a float without meaning, that is set to zero; null: the op has none.
struct ArrayFlow {
  Tensor* flow;
};
/// Checks TensorArrayV3 and sets its output `handle`.
Result<ArrayFlow> check_array_make(KernelContext& context);

/// Checks TensorArrayReadV3. The output needs no computation if there is no part.
Result<ElementParts> check_array_read(KernelContext& context);
/// Checks TensorArrayGatherV3; part i is row i of the output. Fails with InvalidArgument if the elements differ in shape, and with
/// Unimplemented if there are none and element_shape is not fully known.
Result<ElementParts> check_array_gather(KernelContext& context);
/// Checks TensorArrayConcatV3 and sets its output `lengths`. Fails as check_array_gather(), for shapes without the first dimension.
Result<ElementParts> check_array_concat(KernelContext& context);

}  // namespace troupe
