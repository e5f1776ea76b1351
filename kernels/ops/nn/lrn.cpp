// Local response normalisation over the channels of images [batch, height, width, channels] (Krizhevsky et al. 2012):
//   LRN(input)                                        x_i / (bias + alpha sum x_j^2)^beta, where the sum is over the channels
//                                                     j with |i - j| <= depth_radius
//   LRNGrad(input_grads, input_image, output_image)   the gradient by the input; the three have one shape
// Half, bfloat16 and float; computed in float. Fails with InvalidArgument for images of another rank and for a negative
// depth_radius.
//
// Method: pixels are computed in blocks that fit the first cache. A window sum is the sum of the sums of 1, 2, 4, ... neighbours
// that make up its width. So it takes O(log depth_radius) vector additions, and nothing is subtracted, which keeps it as
// accurate as a pairwise sum.
#include "kernels/ops/nn/lrn.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/vector_loops.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {
namespace {

// ---- Checks

Status check_radius(const Node& node) {
  const auto radius = node.attrs.get<int64_t>("depth_radius");
  if (radius >= 0) return {};
  return invalid_argument("depth_radius is " + std::to_string(radius) + "; it must not be negative");
}

Status lrn_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_radius(context.node()));
  TROUPE_ASSIGN(PartialShape shape, context.with_rank(0, 4));
  for (size_t i = 1; i < context.inputs(); ++i) {
    TROUPE_ASSIGN(shape, merge(shape, context.input(i)));
  }
  context.set_output(0, std::move(shape));
  return {};
}

// ---- Blocks of pixels

/// The memory for the sums and powers of up to `pixels` pixels.
class Block {
 public:
  Block(const Normalization& normalization, size_t pixels)
      : n_(normalization), padded_(pixels * n_.padded()), sums_(padded_.size()), norms_(pixels * n_.depth),
        powers_(norms_.size()), rest_(norms_.size()) {}

  /// y = x / norm^beta
  void forward(const float* x, float* y, size_t pixels) {
    const size_t n = pixels * n_.depth;
    find_norms(x, pixels);
    find_powers(n);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) y[i] = x[i] * powers_[i];
  }
  /// dx_i = dy_i / norm_i^beta - 2 alpha beta x_i sum dy_j y_j / norm_j
  void backward(const float* dy, const float* x, const float* y, float* dx, size_t pixels) {
    const size_t n = pixels * n_.depth;
    find_norms(x, pixels);
    find_powers(n);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) rest_[i] = dy[i] * y[i] / norms_[i];
    for_each_padded(pixels, [&](size_t pixel, float* row) {
      std::copy_n(rest_.data() + pixel * n_.depth, n_.depth, row);
    });
    add_windows(pixels);
    const float factor = -2 * n_.alpha * n_.beta;
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
      const float* const sums = sums_.data() + pixel * n_.padded();
      const size_t first = pixel * n_.depth;
#pragma GCC ivdep
      for (size_t c = 0; c < n_.depth; ++c)
        dx[first + c] = dy[first + c] * powers_[first + c] + factor * x[first + c] * sums[c];
    }
  }

 private:
  /// Calls write(pixel, row) for the channels of each pixel, with zeros before and after the row.
  template <class Write>
  void for_each_padded(size_t pixels, const Write& write) {
    std::fill_n(padded_.data(), pixels * n_.padded(), 0.0F);
    for (size_t pixel = 0; pixel < pixels; ++pixel)
      write(pixel, padded_.data() + pixel * n_.padded() + n_.radius);
  }
  /// sums[i] = padded[i] + ... + padded[i + window - 1]; changes padded.
  void add_windows(size_t pixels) {
    const size_t length = pixels * n_.padded(), count = length - (n_.window() - 1);
    float *const part = padded_.data(), *const sums = sums_.data();
    std::fill_n(sums, count, 0.0F);
    size_t offset = 0;
    for (size_t width = 1; width <= n_.window(); width *= 2) {  // part[i] is the sum of `width` neighbours
      if (n_.window() & width) {
        const float* const from = part + offset;
#pragma GCC ivdep
        for (size_t i = 0; i < count; ++i) sums[i] += from[i];
        offset += width;
      }
#pragma GCC ivdep
      for (size_t i = 0; i + width < length; ++i) part[i] += part[i + width];
    }
  }
  void find_norms(const float* x, size_t pixels) {
    for_each_padded(pixels, [&](size_t pixel, float* row) {
      const float* const from = x + pixel * n_.depth;
#pragma GCC ivdep
      for (size_t c = 0; c < n_.depth; ++c) row[c] = from[c] * from[c];
    });
    add_windows(pixels);
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
      const float* const sums = sums_.data() + pixel * n_.padded();
      float* const norms = norms_.data() + pixel * n_.depth;
#pragma GCC ivdep
      for (size_t c = 0; c < n_.depth; ++c) norms[c] = n_.bias + n_.alpha * sums[c];
    }
  }
  /// powers = norms^-beta; without a logarithm where beta is 1, 1/2 or 3/4.
  void find_powers(size_t n) {
    const auto apply = [&](VectorUnary function, const float* from, float* to) {
      vector_loop(function, DType::Float)(from, to, n);
    };
    const auto multiply = [&](const float* a, size_t step, const float* b) {
      vector_loop(VectorBinary::Mul, DType::Float)(a, step, b, 1, powers_.data(), n);
    };
    float* const powers = powers_.data();
    if (n_.beta == 1.0F) return apply(VectorUnary::Reciprocal, norms_.data(), powers);
    if (n_.beta == 0.5F || n_.beta == 0.75F) {
      apply(VectorUnary::Rsqrt, norms_.data(), powers);
      if (n_.beta == 0.5F) return;
      apply(VectorUnary::Sqrt, powers, rest_.data());
      return multiply(rest_.data(), 1, powers);
    }
    const float exponent = -n_.beta;
    apply(VectorUnary::Log, norms_.data(), powers);
    multiply(&exponent, 0, powers);
    apply(VectorUnary::Exp, powers, powers);
  }

  const Normalization& n_;
  std::vector<float> padded_, sums_, norms_, powers_, rest_;
};

Status compute_lrn(const LrnArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  std::vector<Tensor> wide;
  for (const Tensor* const input : arguments.inputs) {
    TROUPE_ASSIGN(Tensor tensor, converted(device, *input, DType::Float));
    wide.push_back(std::move(tensor));
  }
  const Normalization& normalization = arguments.normalization;
  const size_t depth = normalization.depth, pixels = static_cast<size_t>(arguments.output.elements()) / depth;
  const size_t most = std::max<size_t>(2048 / normalization.padded(), 1);
  return compute_wide(device, arguments.output, [&](Tensor& output) {
    float* const to = output.write<float>().data();
    parallel_rows(device.pool(), pixels, 16 * depth * sizeof(float), [&](size_t begin, size_t end) {
      Block block(normalization, std::min(most, end - begin));
      for (size_t pixel = begin; pixel < end; pixel += most) {
        const size_t at = pixel * depth, count = std::min(most, end - pixel);
        const auto from = [&](size_t i) { return wide[i].as<float>().data() + at; };
        if (wide.size() == 1)
          block.forward(from(0), to + at, count);
        else
          block.backward(from(0), from(1), from(2), to + at, count);
      }
    });
  });
}

// ---- Definitions

void lrn_gradient(GradientContext& context) {
  Attributes attrs;
  for (const char* attr : {"depth_radius", "bias", "alpha", "beta"})
    attrs.set(attr, *context.node().attrs.find(attr));
  context.set(0, context.scope().add_one("LRNGrad", {context.gradient(), context.input(0), context.output(0)},
                                         attrs));
}

OpDefBuilder with_attributes(OpDefBuilder op) {
  return op.output("output: T")
      .attr("depth_radius: int = 5")
      .attr("bias: float = 1")
      .attr("alpha: float = 1")
      .attr("beta: float = 0.5")
      .attr("T: {half, bfloat16, float} = float")
      .shape(lrn_shape);
}

}  // namespace

Result<LrnArguments> check_lrn(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  const Attributes& attrs = context.node().attrs;
  TROUPE_RETURN_IF_FAILED(check_radius(context.node()));
  if (shape.rank() != 4)
    return invalid_argument("the image has shape " + shape.text() + "; it must have rank 4");
  std::vector<const Tensor*> inputs;
  for (size_t i = 0; i < context.inputs(); ++i) {
    if (!(context.input(i).shape() == shape))
      return invalid_argument("input_grads has shape " + shape.text() + " and another input has shape " +
                              context.input(i).shape().text() + "; they must have the same shape");
    inputs.push_back(&context.input(i));
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const int64_t radius = std::min(attrs.get<int64_t>("depth_radius"), std::max<int64_t>(shape[3] - 1, 0));
  return LrnArguments{std::move(inputs),
                      *output,
                      {static_cast<size_t>(shape[3]), static_cast<size_t>(radius), attrs.get<float>("bias"),
                       attrs.get<float>("alpha"), attrs.get<float>("beta")}};
}

void add_lrn_ops(OpLibrary& library) {
  library.op(with_attributes(OpDefBuilder("LRN").input("input: T"))
                 .constructor("lrn(input, depth_radius, bias, alpha, beta)")
                 .gradient(lrn_gradient));
  library.op(with_attributes(
      OpDefBuilder("LRNGrad").input("input_grads: T").input("input_image: T").input("output_image: T")));
  for (const char* name : {"LRN", "LRNGrad"}) library.kernel(cpu_kernel(name, check_lrn, compute_lrn));
}

}  // namespace troupe
