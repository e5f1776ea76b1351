// Diagonals of tensors, for dimensions d.
//   Diag(diagonal)     of shape d: zeros of shape d + d, with diagonal[i...] at [i..., i...]
//   DiagPart(input)    of shape d + d: its elements at [i..., i...]
#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

Status check_diag_rank(size_t rank) {
  return rank != 0 ? Status{} : invalid_argument("diagonal is a scalar, expected a tensor of rank 1 or more");
}

Status diag_shape(ShapeContext& context) {
  const PartialShape& diagonal = context.input(0);
  if (!diagonal.known_rank()) return {};
  TROUPE_RETURN_IF_FAILED(check_diag_rank(diagonal.rank()));
  context.set_output(0, concatenate(diagonal, diagonal));
  return {};
}

/// The first half of the dimensions, merged with the second. InvalidArgument when they differ.
Result<PartialShape> half_of(const PartialShape& input) {
  const size_t half = input.rank() / 2;
  const auto refused = [&] {
    return invalid_argument(
        "input of shape " + input.text() +
        " has no diagonal: the second half of its dimensions must be the same as the first");
  };
  if (input.rank() == 0 || input.rank() % 2 != 0) return refused();
  auto merged = merge(partial(input.dims().first(half)), partial(input.dims().subspan(half)));
  if (!merged) return refused();
  return merged;
}

Status diag_part_shape(ShapeContext& context) {
  if (!context.input(0).known_rank()) return {};
  TROUPE_ASSIGN(auto half, half_of(context.input(0)));
  context.set_output(0, std::move(half));
  return {};
}

void diag_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("DiagPart", {context.gradient()}));
}
void diag_part_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("Diag", {context.gradient()}));
}

}  // namespace

Result<BoxCopyArguments> check_diag(KernelContext& context) {
  const Tensor& diagonal = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_diag_rank(diagonal.shape().rank()));
  Dims dims(diagonal.shape().dims());
  dims.append(diagonal.shape().dims());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, diagonal.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const int64_t count = diagonal.elements();
  return BoxCopyArguments{&diagonal, output, BoxCopy(Dims{count}, {0, Dims{1}}, {0, Dims{count + 1}}), true};
}

Result<BoxCopyArguments> check_diag_part(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const PartialShape half, half_of(input.shape()));
  TROUPE_ASSIGN(const Shape shape, half.to_shape(input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const int64_t count = shape.elements();
  return BoxCopyArguments{&input, output, BoxCopy(Dims{count}, {0, Dims{count + 1}}, {0, Dims{1}})};
}

void add_diag_ops(OpLibrary& library) {
  constexpr const char* types = "T: {half, bfloat16, float, double, int32, int64, complex64, complex128}";
  library.op(OpDefBuilder("Diag")
                 .input("diagonal: T")
                 .output("output: T")
                 .attr(types)
                 .constructor("diag(diagonal)")
                 .shape(diag_shape)
                 .gradient(diag_gradient));
  library.kernel(cpu_kernel("Diag", check_diag, compute_box_copy));
  library.op(OpDefBuilder("DiagPart")
                 .input("input: T")
                 .output("diagonal: T")
                 .attr(types)
                 .constructor("diag_part(input)")
                 .shape(diag_part_shape)
                 .gradient(diag_part_gradient));
  library.kernel(cpu_kernel("DiagPart", check_diag_part, compute_box_copy));
}

}  // namespace troupe
