// Softmax along the last axis of logits of rank 1 or more; half and bfloat16 are computed in float.
//   Softmax(logits)      exp(x) / sum exp(x)
//   LogSoftmax(logits)   x - log sum exp(x)
// Logits may be arbitrarily large: each row is shifted by its maximum first.
#include "kernels/ops/nn/softmax.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"

namespace troupe {
namespace {

Status softmax_shape(ShapeContext& context) {
  if (context.input(0).has_rank(0))
    return invalid_argument("logits is a scalar; it must have at least one dimension");
  return unchanged_shape(context);
}

using RowLoop = void (*)(const void* x, void* y, size_t n);

/// The two tensors have the same shape and dtype, and may be the same memory.
void for_rows(Pool& pool, RowLoop loop, const Tensor& from, Tensor& to) {
  if (to.elements() == 0) return;
  const auto length = static_cast<size_t>(to.shape()[to.shape().rank() - 1]);
  const size_t bytes = length * size_of(to.dtype());
  const std::byte* const x = from.data();
  std::byte* const y = to.mutable_data();
  parallel_rows(pool, static_cast<size_t>(to.elements()) / length, 8 * bytes, [=](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) loop(x + row * bytes, y + row * bytes, length);
  });
}

template <RowLoop SoftmaxLoops::*Loop>
Status compute_softmax(const SoftmaxArguments& arguments, DeviceContext& device) {
  const auto& [logits, output] = arguments;
  const DType dtype = compute_dtype(logits.dtype());
  const RowLoop loop = softmax_loops(dtype).*Loop;
  if (dtype == logits.dtype()) {
    for_rows(device.pool(), loop, logits, output);
    return {};
  }
  TROUPE_ASSIGN(Tensor wide, converted(device, logits, dtype));
  for_rows(device.pool(), loop, wide, wide);
  convert(device.pool(), wide, output);
  return {};
}

void softmax_gradient(GradientContext& context) {  // (dy - sum(dy y)) y
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), y = context.output(0);
  context.set(0, mul(scope, sub(scope, gradient, sum(scope, mul(scope, gradient, y), -1, true)), y));
}

void log_softmax_gradient(GradientContext& context) {  // dy - sum(dy) exp(y)
  const Scope& scope = context.scope();
  const Output gradient = context.gradient();
  context.set(
      0, sub(scope, gradient, mul(scope, sum(scope, gradient, -1, true), exp(scope, context.output(0)))));
}

}  // namespace

Result<SoftmaxArguments> check_softmax(KernelContext& context) {
  const Tensor& logits = context.input(0);
  if (logits.shape().is_scalar())
    return invalid_argument("logits is a scalar; it must have at least one dimension");
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, logits.shape()));
  return SoftmaxArguments{logits.valid() ? logits : *output, *output};
}

void add_softmax_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Softmax")
                 .input("logits: T")
                 .output("softmax: T")
                 .attr("T: floattype")
                 .constructor("softmax(logits)")
                 .shape(softmax_shape)
                 .gradient(softmax_gradient));
  library.kernel(cpu_kernel("Softmax", check_softmax, compute_softmax<&SoftmaxLoops::softmax>).inexpensive());
  library.op(OpDefBuilder("LogSoftmax")
                 .input("logits: T")
                 .output("logsoftmax: T")
                 .attr("T: floattype")
                 .constructor("log_softmax(logits)")
                 .shape(softmax_shape)
                 .gradient(log_softmax_gradient));
  library.kernel(
      cpu_kernel("LogSoftmax", check_softmax, compute_softmax<&SoftmaxLoops::log_softmax>).inexpensive());
}

}  // namespace troupe
