// CheckNumerics and _CheckFinite: the checks on the host, and the arguments that they return to the compute function of each type
// of device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include <string>
#include <vector>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Which kinds of numbers that are not finite a tensor has.
struct NotFinite {
  bool inf = false, nan = false;
  bool any() const { return inf || nan; }
};

/// The compute function fails with InvalidArgument "<message> : Tensor had NaN values" if an element is not finite; the error
/// names Inf, NaN or both. The output is the tensor itself.
struct CheckNumericsArguments {
  const Tensor& tensor;
  const std::string& message;  ///< the attribute of the node
};

Result<CheckNumericsArguments> check_check_numerics(KernelContext& context);
/// Returns the failure for a tensor that has such numbers; Ok if it has none.
Status not_finite(const std::string& message, NotFinite found);

/// The compute function fails with InvalidArgument, at the node that the attributes name, if an element of the tensor is not
/// finite, and all elements of the inputs are. The output is the tensor itself.
struct CheckFiniteArguments {
  const Tensor& tensor;
  std::vector<const Tensor*> inputs;  ///< floats, of the node that computed the tensor
  const Node& node;                   ///< the node that checks
};

Result<CheckFiniteArguments> check_check_finite(KernelContext& context);
/// Returns the failure of a _CheckFinite node whose tensor has such numbers, while its inputs have none.
Status first_not_finite(const Node& node, NotFinite found);

}  // namespace troupe
