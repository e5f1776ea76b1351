// Activations of quantised tensors: steps below that of 0 become it, and those above the step of 6 (QuantizedRelu6) or of the
// scalar max_value (QuantizedReluX) become that one. The range stays the same. quint8 or qint32. Fails with InvalidArgument for
// ranges that are not one float each. Source: tensorflow/core/kernels/quantized_activation_ops.cc.
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/quantized/quantization.h"

namespace troupe {
namespace {

using ActivationTypes = TypeList<QUInt8, QInt32>;

struct ActivationArguments {
  const Tensor &features, &min, &max;
  const Tensor* limit;  ///< null unless the limit is an input
  bool is_relu6;
  Tensor& output;
  RangeOutput range;
};

Result<ActivationArguments> check_activation(KernelContext& context) {
  const size_t first = context.inputs() - 2;
  TROUPE_RETURN_IF_FAILED(check_range_shapes(context, first));
  const Tensor* const limit = first == 2 ? &context.input(1) : nullptr;
  if (limit && limit->elements() != 1)
    return invalid_argument("max_value has shape " + limit->shape().text() + "; it must have one element");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  TROUPE_ASSIGN(const RangeOutput range, range_output(context));
  return ActivationArguments{context.input(0),
                             context.input(first),
                             context.input(first + 1),
                             limit,
                             context.node().type() == "QuantizedRelu6",
                             *output,
                             range};
}

void compute_activation(const ActivationArguments& arguments, DeviceContext& device) {
  const FloatRange range = range_of(arguments.min, arguments.max);
  with_type(ActivationTypes{}, arguments.features.dtype(), [&]<class T>(std::type_identity<T>) {
    using Step = StorageOf<T>;
    const Step least = nearest_step<T>(0, range).value;
    const Step most = arguments.limit      ? nearest_step<T>(arguments.limit->as<float>()[0], range).value
                      : arguments.is_relu6 ? nearest_step<T>(6, range).value
                                           : std::numeric_limits<Step>::max();
    const auto x = arguments.features.as<T>();
    const auto y = arguments.output.write<T>();
    parallel_items(device.pool(), x.size(), 2 * sizeof(T), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) y[i].value = std::min(std::max(x[i].value, least), most);
    });
  });
  arguments.range.write(range);
}

Status activation_shape(ShapeContext& context) {
  return quantized_shape(context, context.input(0), context.inputs() - 2);
}

}  // namespace

void add_quantized_activations(OpLibrary& library) {
  for (const char* name : {"QuantizedRelu", "QuantizedRelu6", "QuantizedReluX"}) {
    OpDefBuilder op(name);
    op.input("features: Tinput");
    if (std::string_view(name).ends_with('X')) op.input("max_value: float");
    library.op(op.input("min_features: float")
                   .input("max_features: float")
                   .output("activations: out_type")
                   .output("min_activations: float")
                   .output("max_activations: float")
                   .attr(std::string("Tinput: ") + quantized_types)
                   .attr(std::string("out_type: ") + quantized_types + " = quint8")
                   .shape(activation_shape));
    for (const DType dtype : dtypes(ActivationTypes{}))
      library.kernel(cpu_kernel(name, check_activation, compute_activation)
                         .on("Tinput", {dtype})
                         .on("out_type", {dtype}));
  }
}

}  // namespace troupe
