// The gradients of batch normalisation, through y alone and with statistics that follow from x: tensorflow/python/ops/nn_grad.py.
#include "graph/build/gradients.h"

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/nn/batch_norm.h"
#include "kernels/ops/nn/formula_gradient.h"

namespace troupe {
namespace {

Attributes attributes_of(const GradientContext& context) {
  Attributes attrs;
  for (const char* attr : {"epsilon", "data_format", "is_training"})
    attrs.set(attr, *context.node().attrs.find(attr));
  return attrs;
}

}  // namespace

void batch_norm_gradient(GradientContext& context) {
  if (!context.has_gradient(0)) return;
  const std::string type = context.node().type();
  const bool training = is_training(context.node());
  std::vector<Output> inputs{context.gradient(), context.input(0), context.input(1)};
  for (const size_t i : {3, 4}) inputs.push_back(training ? context.output(i) : context.input(i));
  if (type == "FusedBatchNormV3") inputs.push_back(context.output(5));
  const std::string name =
      std::string("FusedBatchNormGrad") + type.substr(std::string_view("FusedBatchNorm").size());
  const NodeId node = context.scope().add(name, inputs, attributes_of(context));
  for (uint32_t i = 0; i < 3; ++i) context.set(i, Output{node, i});
}

namespace {

/// FusedBatchNormGrad written with ops.
class ComposedGradient {
 public:
  explicit ComposedGradient(const GradientContext& context)
      : s_(context.scope()), dtype_(s_.dtype(context.input(1))), last_(channels_are_last(context.node())),
        epsilon_(context.attr<float>("epsilon")), rank_(s_.shape(context.input(1)).rank()) {
    if (!s_.shape(context.input(1)).known_rank()) rank_ = context.attr<std::string>("data_format").size();
  }

  /// [dx, dscale, doffset] of the gradient y, of x and of vectors.
  std::vector<Output> training(Output y, Output x, Output scale) const {
    const Output gradient = wide(y), input = wide(x);
    const Output distance = sub(s_, input, mean(s_, input, others(), true));
    const Output inverse = root(mean(s_, square(s_, distance), others(), true));
    const Output product = mul(s_, gradient, distance);
    const Output centred = sub(s_, gradient, mean(s_, gradient, others(), true));
    const Output along = mul(s_, mul(s_, square(s_, inverse), mean(s_, product, others(), true)), distance);
    const Output dx = mul(s_, mul(s_, by_channel(scale), inverse), sub(s_, centred, along));
    return {narrow(dx), sum(s_, mul(s_, product, inverse), others()), sum(s_, gradient, others())};
  }
  std::vector<Output> inference(Output y, Output x, Output scale, Output given_mean, Output variance) const {
    const Output gradient = wide(y), inverse = root(by_channel(variance));
    const Output distance = sub(s_, wide(x), by_channel(given_mean));
    const Output dx = mul(s_, gradient, mul(s_, by_channel(scale), inverse));
    return {narrow(dx), sum(s_, mul(s_, mul(s_, gradient, distance), inverse), others()),
            sum(s_, gradient, others())};
  }

 private:
  Output wide(Output x) const { return dtype_ == f32 ? x : cast(s_, x, f32); }
  Output narrow(Output x) const { return dtype_ == f32 ? x : cast(s_, x, dtype_); }
  Output root(Output variance) const { return rsqrt(s_, add(s_, variance, epsilon_)); }
  /// The axes that do not count channels.
  Output others() const {
    Dims axes;
    const size_t channel = last_ ? rank_ - 1 : 1;
    for (size_t i = 0; i < rank_; ++i)
      if (i != channel) axes.push_back(static_cast<int64_t>(i));
    return integer_constants(s_, axes);
  }
  Output by_channel(Output vector) const {
    Dims dims(rank_, 1);
    dims[last_ ? rank_ - 1 : 1] = -1;
    return reshape(s_, vector, integer_constants(s_, dims));
  }

  const Scope& s_;
  DType dtype_;
  bool last_;
  float epsilon_;
  size_t rank_;
};

}  // namespace

/// By y_backprop, x and scale.
void batch_norm_grad_gradient(GradientContext& context) {
  const ComposedGradient composed(context);
  differentiate_formula(context, 3, [&](const std::vector<Output>& by) {
    return is_training(context.node())
               ? composed.training(by[0], by[1], by[2])
               : composed.inference(by[0], by[1], by[2], context.input(3), context.input(4));
  });
}

}  // namespace troupe
