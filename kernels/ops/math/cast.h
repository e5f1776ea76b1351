// Cast: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Each element of y is the element of x, converted by cast_loop, or by truncating_cast_loop if `truncate` is set
/// (kernels/loops/cast.h).
struct CastArguments {
  const Tensor& x;
  /// Has the shape of x. Null if both dtypes are equal: the output is x itself and nothing is computed.
  Tensor* y;
  bool truncate;  ///< if true, a float that becomes a narrower float is rounded towards zero
};

class CastCheck {
 public:
  explicit CastCheck(const PrepareContext& context) : truncate_(context.attr<bool>("Truncate")) {}
  Result<CastArguments> operator()(KernelContext& context) const;

 private:
  bool truncate_;
};

}  // namespace troupe
