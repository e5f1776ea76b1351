// Roll(input, shift, axis): the elements moved by shift[i] places along axis[i], for every i; what leaves the end of an axis comes
// in at its beginning. shift and axis are scalars, or vectors of one length; the shifts of an axis that is named twice add up.
// Fails with InvalidArgument for a scalar input, an axis outside [-rank, rank), and shapes of shift and axis that differ.
#include "kernels/ops/array/roll.h"

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

Status check_ranks(const PartialShape& input, const PartialShape& shift, const PartialShape& axis) {
  if (input.has_rank(0)) return invalid_argument("input is a scalar; it must have at least one dimension");
  TROUPE_ASSIGN(const PartialShape both, merge(shift, axis));
  if (!both.known_rank() || both.rank() <= 1) return {};
  return invalid_argument("shift and axis have shape " + both.text() + "; they must be scalars or vectors");
}

Status roll_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_ranks(context.input(0), context.input(1), context.input(2)));
  return unchanged_shape(context);
}

/// Copies a part of the input, which has size dims. The dimensions before `axis` are cut already; each later one is cut in two: the
/// elements that move up by the shift, and the last ones, which come to the beginning.
void copy_parts(Pool& pool, const RollArguments& arguments, size_t axis, const Dims& dims, const Layout& from,
                const Layout& to) {
  if (axis == dims.size()) return strided_copy(pool, dims, arguments.input, from, arguments.output, to);
  const int64_t size = dims[axis], shift = arguments.shifts[axis], stride = from.strides[axis];
  for (const bool wraps : {false, true}) {
    Dims part = dims;
    part[axis] = wraps ? shift : size - shift;
    if (part[axis] == 0) continue;
    Layout source = from, target = to;
    (wraps ? source : target).offset += (wraps ? size - shift : shift) * stride;
    copy_parts(pool, arguments, axis + 1, part, source, target);
  }
}

void compute_roll(const RollArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  const Dims dims(arguments.input.shape().dims());
  const Layout layout{0, strides_of(dims)};
  copy_parts(device.pool(), arguments, 0, dims, layout, layout);
}

void roll_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output back = scope.add_one("Neg", {context.input(1)});
  context.set(0, scope.add_one("Roll", {context.gradient(), back, context.input(2)}));
}

}  // namespace

Result<RollArguments> check_roll(KernelContext& context) {
  const Tensor &input = context.input(0), &shift = context.input(1), &axis = context.input(2);
  const Shape& shape = input.shape();
  TROUPE_RETURN_IF_FAILED(check_ranks(shape, shift.shape(), axis.shape()));
  const Dims places = integers(shift), axes = integers(axis);
  Dims shifts(shape.rank(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    TROUPE_ASSIGN(const size_t at, resolve_axis(axes[i], shape.rank()));
    const int64_t size = shape[at];
    if (size != 0) shifts[at] = ((shifts[at] + places[i] % size) % size + size) % size;
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return RollArguments{input, *output, std::move(shifts)};
}

void add_roll(OpLibrary& library) {
  library.op(OpDefBuilder("Roll")
                 .input("input: T")
                 .host_input("shift: Tshift")
                 .host_input("axis: Taxis")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Tshift: {int32, int64}")
                 .attr("Taxis: {int32, int64}")
                 .constructor("roll(input, shift, axis)")
                 .shape(roll_shape)
                 .gradient(roll_gradient));
  library.kernel(cpu_kernel("Roll", check_roll, compute_roll));
}

}  // namespace troupe
