// Sequences, in host memory.
//   Range(start, limit, delta)   start + i delta, up to but not including limit. The number of elements is (limit - start) / delta,
//                                rounded up; each operation rounds to the type. ResourceExhausted if memory cannot hold them
//   LinSpace(start, stop, num)   num evenly spaced values from start to stop, both included
#include "kernels/ops/array/range.h"

#include "kernels/core/arguments.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using RangeTypes = Joined<AllFloatTypes, TypeList<int32_t, int64_t>>;

template <class T>
Result<int64_t> range_size(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return troupe::range_size(start.as<T>()[0], limit.as<T>()[0], delta.as<T>()[0]);
}

Result<int64_t> range_size_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  for (const Tensor* tensor : {&start, &limit, &delta})
    if (!tensor->shape().is_scalar())
      return invalid_argument("start, limit and delta must be scalars, but one of them has shape " +
                              tensor->shape().text());
  Result<int64_t> size = 0;
  with_type(RangeTypes{}, start.dtype(),
            [&]<class T>(std::type_identity<T>) { size = range_size<T>(start, limit, delta); });
  return size;
}

Status range_shape(ShapeContext& context) {
  for (size_t i = 0; i < 3; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  const Tensor *start = context.constant(0), *limit = context.constant(1), *delta = context.constant(2);
  int64_t size = unknown_dim;
  if (start && limit && delta) {
    TROUPE_ASSIGN(size, range_size_of(*start, *limit, *delta));
  }
  context.set_output(0, PartialShape::vector(size));
  return {};
}

template <class T>
void write_range(Tensor& output, const Tensor& start, const Tensor& delta) {
  const ComputeType<T> first(start.as<T>()[0]), step(delta.as<T>()[0]);
  const auto elements = output.write<T>();
  for (size_t i = 0; i < elements.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {  // the product alone may overflow
      using Unsigned = std::make_unsigned_t<T>;
      elements[i] = static_cast<T>(static_cast<Unsigned>(first) +
                                   static_cast<Unsigned>(i) * static_cast<Unsigned>(step));
    } else {  // each step of the arithmetic rounds to T, as in TensorFlow
      const auto steps = static_cast<ComputeType<T>>(T(static_cast<ComputeType<T>>(i)));
      elements[i] = T(first + static_cast<ComputeType<T>>(T(steps * step)));
    }
  }
}

Status run_range(KernelContext& context) {
  const Tensor &start = context.input(0), &delta = context.input(2);
  TROUPE_ASSIGN(const int64_t size, range_size_of(start, context.input(1), delta));
  TROUPE_ASSIGN(const Shape shape, Shape::make({&size, 1}, start.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  with_type(RangeTypes{}, start.dtype(),
            [&]<class T>(std::type_identity<T>) { write_range<T>(*output, start, delta); });
  return {};
}

Status lin_space_shape(ShapeContext& context) {
  for (size_t i = 0; i < 3; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  const auto num = constant_integer(context, 2);
  if (num && *num < 1) return invalid_argument("num is " + std::to_string(*num) + "; it must be at least 1");
  context.set_output(0, PartialShape::vector(num.value_or(unknown_dim)));
  return {};
}

template <class T>
void write_lin_space(Tensor& output, const Tensor& start, const Tensor& stop) {
  const T first = start.as<T>()[0], last = stop.as<T>()[0];
  const auto elements = output.write<T>();
  const size_t gaps = elements.size() - 1;
  const T step = gaps == 0 ? T{0} : (last - first) / static_cast<T>(gaps);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = first + step * static_cast<T>(i);
  if (gaps > 0) elements[gaps] = last;  // without the roundings of the steps
}

Status run_lin_space(KernelContext& context) {
  const Tensor &start = context.input(0), &stop = context.input(1);
  if (!start.shape().is_scalar() || !stop.shape().is_scalar())
    return invalid_argument("start of shape " + start.shape().text() + " and stop of shape " +
                            stop.shape().text() + " must be scalars");
  TROUPE_ASSIGN(const int64_t num, integer_scalar(context.input(2), "num"));
  if (num < 1) return invalid_argument("num is " + std::to_string(num) + "; it must be at least 1");
  TROUPE_ASSIGN(const Shape shape, Shape::make({&num, 1}, start.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  start.dtype() == DType::Float ? write_lin_space<float>(*output, start, stop)
                                : write_lin_space<double>(*output, start, stop);
  return {};
}

}  // namespace

void add_range_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Range")
                 .host_input("start: Tidx")
                 .host_input("limit: Tidx")
                 .host_input("delta: Tidx")
                 .host_output("output: Tidx")
                 .attr("Tidx: {half, bfloat16, float, double, int32, int64} = int32")
                 .constructor("range(start, limit, delta = 1)")
                 .shape(range_shape)
                 .not_differentiable());
  library.kernel(host_kernel("Range", run_range));
  library.op(OpDefBuilder("LinSpace")
                 .host_input("start: T")
                 .host_input("stop: T")
                 .host_input("num: Tidx")
                 .host_output("output: T")
                 .attr("T: {float, double}")
                 .attr("Tidx: {int32, int64} = int32")
                 .constructor("lin_space(start, stop, num)")
                 .constructor("linspace(start, stop, num)")
                 .shape(lin_space_shape)
                 .not_differentiable());
  library.kernel(host_kernel("LinSpace", run_lin_space));
}

}  // namespace troupe
