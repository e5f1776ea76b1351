// Cast: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Each element of y = that of x, converted as cast_loop or, to truncate, truncating_cast_loop says (kernels/loops/cast.h).
struct CastArguments {
  const Tensor& x;
  Tensor*
      y;  ///< of the shape of x; null when both have one dtype: the output is x itself, and there is nothing to compute
  bool truncate;  ///< a floating number becomes a narrower one rounded towards zero
};

class CastCheck {
 public:
  explicit CastCheck(const PrepareContext& context) : truncate_(context.attr<bool>("Truncate")) {}
  Result<CastArguments> operator()(KernelContext& context) const;

 private:
  bool truncate_;
};

}  // namespace troupe
