// Batch normalisation of images t [batch, rows, columns, channels] with given moments m and v: the ops of graphs from before
// FusedBatchNorm. Half, float or double.
//   BatchNormWithGlobalNormalization(t, m, v, beta, gamma)              (t - m) s + beta
//   BatchNormWithGlobalNormalizationGrad(t, m, v, gamma, backprop)      the gradients by t, m, v, beta and gamma
// where s = gamma / sqrt(v + variance_epsilon), or without scale_after_normalization 1 / sqrt(v + variance_epsilon); the gradient
// of gamma is then 0. Half is computed in float. Fails with InvalidArgument unless t has rank 4 and the others are vectors with a
// number for each channel. Gradients flow through the first op alone.
#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {
namespace {

using NormalizedTypes = TypeList<Half, float, double>;

// ---- Checks

/// Merges the number of channels of inputs 1 to `last` with that of t.
Result<PartialShape> channels_of(const ShapeContext& context, size_t last) {
  TROUPE_ASSIGN(const auto t, context.with_rank(0, 4));
  PartialShape channels{t[3]};
  for (size_t i = 1; i <= last; ++i) {
    TROUPE_ASSIGN(const auto vector, context.with_rank(i, 1));
    TROUPE_ASSIGN(channels, merge(channels, vector));
  }
  return channels;
}

Status norm_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape channels, channels_of(context, 4));
  PartialShape t = context.input(0).known_rank() ? context.input(0) : PartialShape::of_rank(4);
  context.set_output(0, partial(Dims(t.dims()).without(3).with(3, channels[0])));
  return {};
}

Status norm_grad_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape channels, channels_of(context, 3));
  TROUPE_ASSIGN(PartialShape t, merge(context.input(0), context.input(4)));
  context.set_output(0, std::move(t));
  for (size_t i = 1; i < 5; ++i) context.set_output(i, channels);
  return {};
}

/// Fails with InvalidArgument unless t has rank 4 and inputs 1 to `last` are vectors of its channels.
Status check_inputs(const KernelContext& context, size_t last) {
  const Shape& t = context.input(0).shape();
  if (t.rank() != 4) return invalid_argument("t has shape " + t.text() + "; it must have rank 4");
  for (size_t i = 1; i <= last; ++i)
    TROUPE_RETURN_IF_FAILED(
        check_dims(context.input(i), context.node().op->inputs[i].name, t.dims().subspan(3)));
  return {};
}

struct NormArguments {
  const Tensor &t, &m, &v, &gamma;
  const Tensor* beta;      ///< null for the gradient
  const Tensor* gradient;  ///< null for the forward op
  std::vector<Tensor*> outputs;
  float epsilon;
  bool scales;

  size_t channels() const { return static_cast<size_t>(m.elements()); }
  size_t rows() const { return channels() == 0 ? 0 : static_cast<size_t>(t.elements()) / channels(); }
};

Result<NormArguments> check_norm(KernelContext& context) {
  const Attributes& attrs = context.node().attrs;
  TROUPE_RETURN_IF_FAILED(check_inputs(context, 4));
  TROUPE_ASSIGN(Tensor* const y, context.output(0, context.input(0).shape()));
  return NormArguments{context.input(0),
                       context.input(1),
                       context.input(2),
                       context.input(4),
                       &context.input(3),
                       nullptr,
                       {y},
                       attrs.get<float>("variance_epsilon"),
                       attrs.get<bool>("scale_after_normalization")};
}

Result<NormArguments> check_norm_grad(KernelContext& context) {
  const Attributes& attrs = context.node().attrs;
  TROUPE_RETURN_IF_FAILED(check_inputs(context, 3));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(4), "backprop", context.input(0).shape().dims()));
  std::vector<Tensor*> outputs;
  for (size_t i = 0; i < 5; ++i) {
    TROUPE_ASSIGN(Tensor* const output, context.output(i, context.input(i == 0 ? 0 : 1).shape()));
    outputs.push_back(output);
  }
  return NormArguments{context.input(0),
                       context.input(1),
                       context.input(2),
                       context.input(3),
                       nullptr,
                       &context.input(4),
                       std::move(outputs),
                       attrs.get<float>("variance_epsilon"),
                       attrs.get<bool>("scale_after_normalization")};
}

// ---- Computing

/// For each channel 1 / sqrt(v + epsilon), and what t - m is multiplied by.
struct Factors {
  std::vector<double> root, scale;
};

template <class T>
double number(T value) {
  return static_cast<double>(static_cast<ComputeType<T>>(value));
}
template <class T>
T element(double value) {
  return static_cast<T>(static_cast<ComputeType<T>>(value));
}

template <class T>
Factors factors_of(const NormArguments& arguments) {
  Factors factors;
  for (size_t c = 0; c < arguments.channels(); ++c) {
    const double variance = number(arguments.v.as<T>()[c]);
    factors.root.push_back(1 / std::sqrt(variance + static_cast<double>(arguments.epsilon)));
    factors.scale.push_back(factors.root.back() *
                            (arguments.scales ? number(arguments.gamma.as<T>()[c]) : 1));
  }
  return factors;
}

template <class T>
void normalize(Pool& pool, const NormArguments& arguments) {
  const Factors factors = factors_of<T>(arguments);
  const size_t channels = arguments.channels();
  const auto t = arguments.t.as<T>(), m = arguments.m.as<T>(), beta = arguments.beta->as<T>();
  const auto y = arguments.outputs[0]->write<T>();
  parallel_rows(pool, arguments.rows(), 4 * channels * sizeof(T), [&](size_t begin, size_t end) {
    for (size_t i = begin * channels; i < end * channels; ++i) {
      const size_t c = i % channels;
      y[i] = element<T>((number(t[i]) - number(m[c])) * factors.scale[c] + number(beta[c]));
    }
  });
}

/// The sums over all rows of the gradient, and of the gradient times the distance from the mean, for each channel.
struct Sums {
  std::vector<double> gradient, product;
};

template <class T>
Sums sums_of(const NormArguments& arguments) {
  const size_t channels = arguments.channels();
  const auto t = arguments.t.as<T>(), m = arguments.m.as<T>(), gradient = arguments.gradient->as<T>();
  Sums sums{std::vector<double>(channels), std::vector<double>(channels)};
  for (size_t row = 0; row < arguments.rows(); ++row)
    for (size_t c = 0; c < channels; ++c) {
      const double dy = number(gradient[row * channels + c]);
      sums.gradient[c] += dy;
      sums.product[c] += dy * (number(t[row * channels + c]) - number(m[c]));
    }
  return sums;
}

template <class T>
void gradients(Pool& pool, const NormArguments& arguments) {
  const Factors factors = factors_of<T>(arguments);
  const Sums sums = sums_of<T>(arguments);
  const size_t channels = arguments.channels();
  const auto gradient = arguments.gradient->as<T>();
  const auto out = [&](size_t i) { return arguments.outputs[i]->write<T>(); };
  const auto dx = out(0);
  parallel_rows(pool, arguments.rows(), 3 * channels * sizeof(T), [&](size_t begin, size_t end) {
    for (size_t i = begin * channels; i < end * channels; ++i)
      dx[i] = element<T>(number(gradient[i]) * factors.scale[i % channels]);
  });
  for (size_t c = 0; c < channels; ++c) {
    const double root = factors.root[c], scale = factors.scale[c];
    out(1)[c] = element<T>(-sums.gradient[c] * scale);
    out(2)[c] = element<T>(-0.5 * sums.product[c] * scale * root * root);
    out(3)[c] = element<T>(sums.gradient[c]);
    out(4)[c] = element<T>(arguments.scales ? sums.product[c] * root : 0);
  }
}

void compute_norm(const NormArguments& arguments, DeviceContext& device) {
  with_type(NormalizedTypes{}, arguments.t.dtype(),
            [&]<class T>(std::type_identity<T>) { normalize<T>(device.pool(), arguments); });
}

void compute_norm_grad(const NormArguments& arguments, DeviceContext& device) {
  with_type(NormalizedTypes{}, arguments.t.dtype(),
            [&]<class T>(std::type_identity<T>) { gradients<T>(device.pool(), arguments); });
}

// ---- Definitions

void norm_gradient(GradientContext& context) {
  const NodeId node = context.scope().add(
      "BatchNormWithGlobalNormalizationGrad",
      {context.input(0), context.input(1), context.input(2), context.input(4), context.gradient()},
      {{"variance_epsilon", context.attr<float>("variance_epsilon")},
       {"scale_after_normalization", context.attr<bool>("scale_after_normalization")}});
  for (uint32_t i = 0; i < 5; ++i) context.set(i, Output{node, i});
}

OpDefBuilder& add_attributes(OpDefBuilder& op) {
  return op.attr("T: {half, float, double}")
      .attr("variance_epsilon: float")
      .attr("scale_after_normalization: bool");
}

}  // namespace

void add_global_batch_norm_ops(OpLibrary& library) {
  OpDefBuilder forward("BatchNormWithGlobalNormalization"), backward("BatchNormWithGlobalNormalizationGrad");
  for (const char* input : {"t: T", "m: T", "v: T", "beta: T", "gamma: T"}) forward.input(input);
  library.op(add_attributes(forward).output("result: T").shape(norm_shape).gradient(norm_gradient));
  library.kernel(cpu_kernel("BatchNormWithGlobalNormalization", check_norm, compute_norm));
  for (const char* input : {"t: T", "m: T", "v: T", "gamma: T", "backprop: T"}) backward.input(input);
  for (const char* output : {"dx: T", "dm: T", "dv: T", "db: T", "dg: T"}) backward.output(output);
  library.op(add_attributes(backward).shape(norm_grad_shape));
  library.kernel(cpu_kernel("BatchNormWithGlobalNormalizationGrad", check_norm_grad, compute_norm_grad));
}

}  // namespace troupe
