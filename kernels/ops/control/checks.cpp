// Checks (features.md U7): ops that exist to fail.
//   Assert(condition, data...)   has no output. Unless the scalar `condition` is true, it fails with InvalidArgument and shows the
//                                first `summarize` elements of each of `data`
// Not differentiable. The inputs are in host memory, where the text of the error is made.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/ops/control/summary_text.h"

namespace troupe {
namespace {

Status run_assert(KernelContext& context) {
  const Tensor& condition = context.input(0);
  if (!condition.shape().is_scalar())
    return invalid_argument("condition must be a scalar, but its shape is " + condition.shape().text());
  if (condition.item<bool>()) return {};
  const auto max_elements = context.node().attrs.get<int64_t>("summarize");
  std::string text = "assertion failed:";
  for (size_t i = 1; i < context.inputs(); ++i) text += ' ' + summary_text(context.input(i), max_elements);
  return invalid_argument(std::move(text));
}

}  // namespace

void add_check_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Assert")
                 .host_input("condition: bool")
                 .host_input("data: T")
                 .attr("T: list(type) >= 1")
                 .attr("summarize: int = 3")
                 .constructor("assert_that(condition, data, summarize)")
                 .effect(Effect::Guard)
                 .shape(no_output_shape)
                 .not_differentiable());
  library.kernel(host_kernel("Assert", run_assert).inexpensive());
}

}  // namespace troupe
