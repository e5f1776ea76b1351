// Along the last axis of logits of rank 1 or more; half and bfloat16 by way of float:
//   Softmax(logits)      exp(x) / sum exp(x)
//   LogSoftmax(logits)   x - log sum exp(x)
// Logits may be as large as they like: each row is shifted by its maximum first.
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"
#include "kernels/ops/all_ops.h"

namespace troupe {
namespace {

Status softmax_shape(ShapeContext& context) {
  if (context.input(0).has_rank(0))
    return invalid_argument("logits are a scalar; they need at least one axis");
  return unchanged_shape(context);
}

using RowLoop = void (*)(const void* x, void* y, size_t n);

void for_rows(Pool& pool, RowLoop loop, const std::byte* x, std::byte* y, const Shape& shape,
              size_t element) {
  const auto length = static_cast<size_t>(shape[shape.rank() - 1]);
  if (shape.elements() == 0) return;
  parallel_rows(pool, static_cast<size_t>(shape.elements()) / length, 8 * length * element,
                [&](size_t begin, size_t end) {
                  for (size_t row = begin; row < end; ++row)
                    loop(x + row * length * element, y + row * length * element, length);
                });
}

template <RowLoop SoftmaxLoops::*Loop>
Status run_rows(KernelContext& context) {
  const Tensor& logits = context.input(0);
  const Shape shape = logits.shape();
  if (shape.is_scalar()) return invalid_argument("logits are a scalar; they need at least one axis");
  Pool& pool = context.device().pool();
  if (is_narrow(logits.dtype())) {
    TROUPE_ASSIGN(Tensor wide, context.scratch(DType::Float, shape));
    convert(pool, logits, wide);
    for_rows(pool, softmax_loops(DType::Float).*Loop, wide.data(), wide.mutable_data(), shape, sizeof(float));
    TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, shape));
    convert(pool, wide, *output);
    return {};
  }
  const std::byte* const x = logits.data();
  const DType dtype = logits.dtype();
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, shape));
  for_rows(pool, softmax_loops(dtype).*Loop, x, output->mutable_data(), shape, size_of(dtype));
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

void add_softmax_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Softmax")
                 .input("logits: T")
                 .output("softmax: T")
                 .attr("T: floattype")
                 .constructor("softmax(logits)")
                 .shape(softmax_shape)
                 .gradient(softmax_gradient));
  library.kernel(cpu_kernel("Softmax", run_rows<&SoftmaxLoops::softmax>).inexpensive());
  library.op(OpDefBuilder("LogSoftmax")
                 .input("logits: T")
                 .output("logsoftmax: T")
                 .attr("T: floattype")
                 .constructor("log_softmax(logits)")
                 .shape(softmax_shape)
                 .gradient(log_softmax_gradient));
  library.kernel(cpu_kernel("LogSoftmax", run_rows<&SoftmaxLoops::log_softmax>).inexpensive());
}

}  // namespace troupe
