// LeakyRelu(features): x where x > 0, alpha x elsewhere. LeakyReluGrad(gradients, features): dy where x > 0, alpha dy
// elsewhere. Floating types; NaN gives NaN.
#include "kernels/ops/nn/leaky_relu.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/elementwise.h"

namespace troupe {
namespace {

/// out = values, multiplied by alpha where the feature is not above 0. As in TensorFlow, alpha has the type of the values.
template <class T>
void leak(const T* values, const T* features, T factor, T* out, size_t begin, size_t end) {
  using Computed = ComputeType<T>;
  const auto alpha = static_cast<Computed>(factor);
#pragma GCC ivdep
  for (size_t i = begin; i < end; ++i) {
    const auto value = static_cast<Computed>(values[i]);
    out[i] = T(static_cast<Computed>(features[i]) > 0 ? value : alpha * value);
  }
}

void compute_leaky_relu(const LeakyReluArguments& arguments, DeviceContext& device) {
  const Tensor& values = arguments.values;
  with_type(AllFloatTypes{}, values.dtype(), [&]<class T>(std::type_identity<T>) {
    const T *const from = values.as<T>().data(), *const by = arguments.features.as<T>().data();
    T* const out = arguments.output.write<T>().data();
    const T factor(arguments.alpha);
    parallel_items(device.pool(), values.as<T>().size(), 3 * sizeof(T),
                   [&](size_t begin, size_t end) { leak<T>(from, by, factor, out, begin, end); });
  });
}

Output leaked(const GradientContext& context, Output features) {
  return context.scope().add_one("LeakyReluGrad", {context.gradient(), features},
                                 {{"alpha", context.attr<float>("alpha")}});
}

void leaky_relu_gradient(GradientContext& context) { context.set(0, leaked(context, context.input(0))); }

/// The op is linear in the gradients and locally constant in the features.
void leaky_relu_grad_gradient(GradientContext& context) {
  context.set(0, leaked(context, context.input(1)));
  context.set(1, context.scope().add_one("ZerosLike", {context.input(1)}));
}

}  // namespace

Result<LeakyReluArguments> check_leaky_relu(KernelContext& context) {
  const Tensor &values = context.input(0), &features = context.input(context.inputs() - 1);
  if (!(values.shape() == features.shape()))
    return invalid_argument("gradients has shape " + values.shape().text() + " and features has shape " +
                            features.shape().text() + "; they must have the same shape");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, values.shape()));
  return LeakyReluArguments{values, features, *output, context.node().attrs.get<float>("alpha")};
}

void add_leaky_relu_ops(OpLibrary& library) {
  library.op(OpDefBuilder("LeakyRelu")
                 .input("features: T")
                 .output("activations: T")
                 .attr("alpha: float = 0.2")
                 .attr("T: floattype = float")
                 .constructor("leaky_relu(features, alpha)")
                 .shape(unchanged_shape)
                 .gradient(leaky_relu_gradient));
  library.op(OpDefBuilder("LeakyReluGrad")
                 .input("gradients: T")
                 .input("features: T")
                 .output("backprops: T")
                 .attr("alpha: float = 0.2")
                 .attr("T: floattype = float")
                 .shape(same_shapes)
                 .gradient(leaky_relu_grad_gradient));
  for (const char* name : {"LeakyRelu", "LeakyReluGrad"})
    library.kernel(cpu_kernel(name, check_leaky_relu, compute_leaky_relu).on("T", dtypes(AllFloatTypes{})));
}

}  // namespace troupe
