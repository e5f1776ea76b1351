// ApplyMovingAverage(average, value, rate): average -= rate * (average - value), for two variables of one shape. It reads the
// variable `value` when it is applied, so that other tasks may apply it after the rules that update this variable
// (apps/nn/weight_averages.h). TensorFlow has no such op; it computes the difference outside. The kernel is an update rule as in
// assign.cpp.
#include "kernels/ops/state/moving_average.h"

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"

namespace troupe {
namespace {

Status moving_average_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  TROUPE_ASSIGN(auto shape, merge(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

Status compute_moving_average(const MovingAverageArguments& arguments, DeviceContext& device) {
  with_type(AverageTypes{}, arguments.value.dtype(), [&]<class T>(std::type_identity<T>) {
    using Wide = std::conditional_t<std::is_same_v<T, Half>, float, T>;
    const auto rate = static_cast<Wide>(arguments.rate.as<T>()[0]);
    const auto before = arguments.average.before<T>(), value = arguments.value.as<T>();
    const auto after = arguments.average.after->write<T>();
    parallel_items(device.pool(), value.size(), 3 * sizeof(T), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const auto old = static_cast<Wide>(before[i]);
        after[i] = static_cast<T>(old - rate * (old - static_cast<Wide>(value[i])));
      }
    });
  });
  return {};
}

}  // namespace

Result<MovingAverageArguments> check_moving_average(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(require_same_shape(context, 0, 1));
  if (!context.input(2).shape().is_scalar())
    return invalid_argument("rate has shape " + context.input(2).shape().text() + "; it must be a scalar");
  MovingAverageArguments arguments{{}, context.input(1), context.input(2)};
  context.set_output(1, context.input(1));  // this variable keeps its value
  TROUPE_ASSIGN(arguments.average, new_value(context, 0));
  return arguments;
}

void add_moving_average_op(OpLibrary& library) {
  library.op(OpDefBuilder("ApplyMovingAverage")
                 .served_by(variable_service)
                 .effect(Effect::State)
                 .shape(moving_average_shape)
                 .input("average: Ref(T)")
                 .input("value: Ref(T)")
                 .input("rate: T")
                 .output("out: Ref(T)")
                 .attr("T: {half, float, double}"));
  library.kernel(cpu_kernel("ApplyMovingAverage", check_moving_average, compute_moving_average)
                     .on("T", dtypes(AverageTypes{})));
}

}  // namespace troupe
