// Select(condition, t, e): t where the condition holds, e elsewhere. t and e have one type and shape; the
// condition has that shape too, or is a scalar for the whole, or a vector that says it for each row
// (dimension 0) of t and e.
// SelectV2: the same where all three are broadcast to one shape.
#include "graph/gradients.h"
#include "graph/shape_context.h"
#include "kernels/all_ops.h"
#include "kernels/broadcast_gradients.h"
#include "kernels/constructors.h"
#include "kernels/parallel.h"
#include "kernels/strided_copy.h"
#include "kernels/type_dispatch.h"
#include "kernels/vector_loops.h"

namespace troupe {
namespace {

Status select_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, merge(context.input(1), context.input(2)));
  const PartialShape& condition = context.input(0);
  if (condition.known_rank() && shape.known_rank() && condition.rank() != 0) {
    const bool rows = condition.rank() == 1 && shape.rank() > 1;
    TROUPE_ASSIGN(auto merged, merge(condition, rows ? PartialShape::vector(shape[0]) : shape));
    if (!rows) shape = std::move(merged);
  }
  context.set_output(0, std::move(shape));
  return {};
}

/// How many elements each element of the condition decides.
Result<size_t> elements_per_condition(const Tensor& condition, const Tensor& t) {
  if (condition.shape() == t.shape()) return size_t{1};
  if (condition.shape().rank() == 1 && t.shape().rank() > 1 && condition.shape()[0] == t.shape()[0])
    return t.shape()[0] == 0 ? size_t{1} : static_cast<size_t>(t.elements() / t.shape()[0]);
  return invalid_argument("the condition of shape " + condition.shape().text() +
                          " fits neither the elements nor the rows of " + t.signature());
}

template <class T>
void choose(const bool* condition, const T* t, const T* e, T* out, size_t n) {
  if constexpr (std::is_integral_v<T>)
    if (const SelectLoop loop = select_loop(sizeof(T))) return loop(condition, t, e, out, n);
  for (size_t i = 0; i < n; ++i) out[i] = condition[i] ? t[i] : e[i];
}

template <class T>
void select(Pool& pool, const Tensor& condition, const Tensor& t, const Tensor& e, size_t per_condition,
            Tensor& output) {
  const bool* const holds = condition.as<bool>().data();
  const T* const from_t = reinterpret_cast<const T*>(t.data());
  const T* const from_e = reinterpret_cast<const T*>(e.data());
  T* const out = reinterpret_cast<T*>(output.mutable_data());
  parallel_rows(pool, static_cast<size_t>(condition.elements()), 3 * sizeof(T) * per_condition,
                [&](size_t begin, size_t end) {
                  if (per_condition == 1)
                    return choose(holds + begin, from_t + begin, from_e + begin, out + begin, end - begin);
                  for (size_t i = begin; i < end; ++i)
                    std::copy_n((holds[i] ? from_t : from_e) + i * per_condition, per_condition,
                                out + i * per_condition);
                });
}

struct Bytes16 {
  uint64_t low, high;
};

void select(Pool& pool, const Tensor& condition, const Tensor& t, const Tensor& e, size_t per_condition,
            Tensor& output) {
  if (t.dtype() == DType::String) return select<std::string>(pool, condition, t, e, per_condition, output);
  switch (size_of(t.dtype())) {
    case 1: return select<uint8_t>(pool, condition, t, e, per_condition, output);
    case 2: return select<uint16_t>(pool, condition, t, e, per_condition, output);
    case 4: return select<uint32_t>(pool, condition, t, e, per_condition, output);
    case 8: return select<uint64_t>(pool, condition, t, e, per_condition, output);
    default: return select<Bytes16>(pool, condition, t, e, per_condition, output);
  }
}

Status run_select(KernelContext& context) {
  const Tensor &condition = context.input(0), &t = context.input(1), &e = context.input(2);
  if (!(t.shape() == e.shape())) return invalid_argument("t is " + t.signature() + ", e is " + e.signature());
  if (condition.shape().is_scalar()) {
    context.set_output(0, condition.as<bool>()[0] ? t : e);
    return {};
  }
  TROUPE_ASSIGN(const size_t per_condition, elements_per_condition(condition, t));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, t.shape()));
  select(context.device().pool(), condition, t, e, per_condition, *output);
  return {};
}

void select_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), zeros = zeros_like(scope, gradient);
  context.set(1, where(scope, context.input(0), gradient, zeros));
  context.set(2, where(scope, context.input(0), zeros, gradient));
}

// ---- SelectV2

Status broadcast_select_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto values, broadcast(context.input(1), context.input(2)));
  TROUPE_ASSIGN(auto shape, broadcast(context.input(0), values));
  context.set_output(0, std::move(shape));
  return {};
}

/// The input repeated to `shape`, which it broadcasts to.
Result<Tensor> repeated(KernelContext& context, size_t i, const Shape& shape) {
  const Tensor& input = context.input(i);
  if (input.shape() == shape) return input;
  const size_t leading = shape.rank() - input.shape().rank();
  const Dims from = strides_of(input.shape().dims());
  Layout layout{0, Dims(shape.rank(), 0)};
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (input.shape()[axis] != 1) layout.strides[leading + axis] = from[axis];
  TROUPE_ASSIGN(Tensor result, context.scratch(input.dtype(), shape));
  strided_copy(context.device().pool(), shape.dims(), input, layout, result, {0, strides_of(shape.dims())});
  return result;
}

Status run_broadcast_select(KernelContext& context) {
  const DType dtype = context.input(1).dtype();
  TROUPE_ASSIGN(const auto values, broadcast(context.input(1).shape(), context.input(2).shape()));
  TROUPE_ASSIGN(const auto all, broadcast(context.input(0).shape(), values));
  TROUPE_ASSIGN(const Shape shape, all.to_shape(dtype));
  TROUPE_ASSIGN(const Tensor condition, repeated(context, 0, shape));
  TROUPE_ASSIGN(const Tensor t, repeated(context, 1, shape));
  TROUPE_ASSIGN(const Tensor e, repeated(context, 2, shape));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  select(context.device().pool(), condition, t, e, 1, *output);
  return {};
}

void broadcast_select_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output condition = context.input(0), gradient = context.gradient(),
               zeros = zeros_like(scope, gradient);
  const auto chosen = [&](Output t, Output e, Output x) {
    return summed_to_shape_of(scope, scope.add_one("SelectV2", {condition, t, e}), x);
  };
  context.set(1, chosen(gradient, zeros, context.input(1)));
  context.set(2, chosen(zeros, gradient, context.input(2)));
}

OpDefBuilder select_op(std::string name) {
  return OpDefBuilder(std::move(name))
      .input("condition: bool")
      .input("t: T")
      .input("e: T")
      .output("output: T")
      .attr("T: type");
}

}  // namespace

void add_select(OpLibrary& library) {
  library.op(select_op("Select")
                 .constructor("where(condition, x: t, y: e)")
                 .shape(select_shape)
                 .gradient(select_gradient));
  library.kernel(cpu_kernel("Select", run_select).inexpensive());
  library.op(select_op("SelectV2").shape(broadcast_select_shape).gradient(broadcast_select_gradient));
  library.kernel(cpu_kernel("SelectV2", run_broadcast_select));
}

}  // namespace troupe
