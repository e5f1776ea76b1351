#include "kernels/core/read_back.h"

namespace troupe {

Status ReadBackKernel::run(KernelContext& /*context*/) const {
  return internal("the host reads a result of this kernel, so that it cannot run as a whole");
}

}  // namespace troupe
