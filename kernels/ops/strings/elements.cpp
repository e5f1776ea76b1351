#include "kernels/ops/strings/elements.h"

namespace troupe {

Result<ElementsArguments> check_elements(KernelContext& context) {
  const Tensor& x = context.input(0);
  TROUPE_ASSIGN(Tensor* const y, context.output(0, x.shape()));
  return ElementsArguments{x, *y};
}

}  // namespace troupe
