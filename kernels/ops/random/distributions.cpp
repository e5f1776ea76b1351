// Numbers of distributions with parameters for each element, in the type of the parameters unless stated otherwise:
//   RandomGamma(shape, alpha)     gamma distributions of scale 1 (Marsaglia and Tsang 2000). The output has the dimensions of
//                                 `shape`, then those of alpha: as many numbers for each alpha. Its gradient by alpha is that of
//                                 RandomGammaGrad. NaN for an alpha below 0.
//   RandomPoisson(shape, rate), RandomPoissonV2
//                                 Poisson distributions, likewise: below 10 by products of uniform numbers (Knuth), else by
//                                 transformed rejection (Hörmann 1993). RandomPoissonV2 has a dtype of its own. NaN, or 0 as an
//                                 integer, for a rate that is negative or not finite.
//   ParameterizedTruncatedNormal(shape, means, stdevs, minvals, maxvals)
//                                 normal distributions on an interval. Dimension 0 of the output is the batch; each parameter is a
//                                 scalar or has one number for each batch. InvalidArgument unless stdevs > 0 and minvals < maxvals.
// Element i of the output takes its bits from the groups 256 i, 256 i + 1, ... (Draws in generator.h).
#include "kernels/ops/random/distributions.h"

#include <algorithm>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

double draw_gamma(double alpha, Draws& draws) {
  if (!(alpha >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (alpha == 0 || std::isinf(alpha)) return alpha;
  // A number for alpha < 1 follows from one for alpha + 1.
  const double factor = alpha < 1 ? std::pow(draws.positive(), 1 / alpha) : 1;
  const double d = alpha + (alpha < 1 ? 1 : 0) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draws.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(draws.positive()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * factor;
  }
}

double draw_small_poisson(double rate, Draws& draws) {
  const double least = std::exp(-rate);
  double events = 0;
  for (double product = draws.positive(); product > least; product *= draws.positive()) ++events;
  return events;
}

/// Hörmann's algorithm PTRS.
double draw_large_poisson(double rate, Draws& draws) {
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), certain = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = draws.uniform() - 0.5, v = draws.positive(), distance = 0.5 - std::abs(u);
    const double events = std::floor((2 * a / distance + b) * u + rate + 0.43);
    if (distance >= 0.07 && v <= certain) return events;
    if (events < 0 || (distance < 0.013 && v > distance)) continue;
    if (std::log(v * inverse_alpha / (a / (distance * distance) + b)) <=
        events * std::log(rate) - rate - log_factorial(events))
      return events;
  }
}

double draw_poisson(double rate, Draws& draws) {
  if (!std::isfinite(rate) || rate < 0) return std::numeric_limits<double>::quiet_NaN();
  return rate < 10 ? draw_small_poisson(rate, draws) : draw_large_poisson(rate, draws);
}

/// Returns a standard normal number in [low, high], where low > 0 or the interval is short (Robert 1995).
double draw_tail(double low, double high, Draws& draws) {
  constexpr double farthest = 1e6;
  if (low > farthest * farthest) return low;
  const double mode = std::max(low, 0.0), rate = low > farthest ? low : (low + std::sqrt(low * low + 4)) / 2;
  if (rate * (high - low) < 2) {  // the uniform distribution is near
    while (true) {
      const double x = low + (high - low) * draws.uniform();
      if (std::log(draws.positive()) <= (mode - x) * (mode + x) / 2) return x;
    }
  }
  while (true) {  // an exponential distribution is near
    const double x = low - std::log(draws.positive()) / rate;
    if (x <= high && std::log(draws.positive()) <= -(x - rate) * (x - rate) / 2) return x;
  }
}

/// Returns a standard normal number in [low, high].
double draw_truncated(double low, double high, Draws& draws) {
  if (low + high < 0) return -draw_truncated(-high, -low, draws);
  constexpr double likely =
      1.5;  // more than 6 % of all normal numbers are in an interval of this size that begins below it
  if (low >= likely || high - low <= likely) return draw_tail(low, high, draws);
  while (true)
    if (const double x = draws.normal(); x >= low && x <= high) return x;
}

// ---- RandomGamma and RandomPoisson

/// output[i, j] = a number of the distribution of parameter j.
struct SampledArguments {
  const Tensor& parameters;
  Tensor& output;
  Philox philox;
};

Result<SampledArguments> check_sampled(KernelContext& context) {
  TROUPE_ASSIGN(Dims dims, integer_vector(context.input(0), "shape"));
  const Tensor& parameters = context.input(1);
  for (const int64_t dim : parameters.shape().dims()) dims.push_back(dim);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return SampledArguments{parameters, *output, generator_of(context)};
}

Status sampled_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape samples, shape_from_input(context, 0));
  context.set_output(0, concatenate(samples, context.input(1)));
  return {};
}

template <auto Draw>
void compute_sampled(const SampledArguments& arguments, DeviceContext& device) {
  const Tensor& parameters = arguments.parameters;
  Tensor& output = arguments.output;
  with_type(SampledTypes{}, parameters.dtype(), [&]<class P>(std::type_identity<P>) {
    with_type(SampledTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
      const auto from = parameters.as<P>();
      const auto to = output.template write<T>();
      parallel_items(device.pool(), to.size(), cost_of_draw, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          Draws draws(arguments.philox, i);
          to[i] = rounded<T>(Draw(number(from[i % from.size()]), draws));
        }
      });
    });
  });
}

/// The derivative of a sample by its alpha, summed over the samples of that alpha.
void gamma_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output alpha = context.input(1), sample = context.output(0);
  const Output slope = random_gamma_grad(scope, alpha, sample);
  context.set(1, summed_to_shape_of(scope, mul(scope, context.gradient(), slope), alpha));
}

// ---- ParameterizedTruncatedNormal

struct TruncatedArguments {
  const Tensor &means, &deviations, &least, &most;
  Tensor& output;
  Philox philox;
  size_t per_batch;  ///< the number of elements of a batch
};

template <class T>
Status check_parameters(const TruncatedArguments& arguments, size_t batches) {
  for (size_t i = 0; i < batches; ++i) {
    const double deviation = parameter<T>(arguments.deviations, i), least = parameter<T>(arguments.least, i),
                 most = parameter<T>(arguments.most, i);
    const std::string batch = " of batch " + std::to_string(i);
    if (!std::isfinite(parameter<T>(arguments.means, i)))
      return invalid_argument("the mean" + batch + " is not finite");
    if (!(deviation > 0 && std::isfinite(deviation)))
      return invalid_argument("the stdev" + batch + " is " + std::to_string(deviation) +
                              ", it must be finite and above 0");
    if (!(least < most))
      return invalid_argument("the minval" + batch + " is " + std::to_string(least) +
                              ", it must be below the maxval, " + std::to_string(most));
  }
  return {};
}

Result<TruncatedArguments> check_truncated(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "shape"));
  TROUPE_RETURN_IF_FAILED(check_batch_parameters(context, dims));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  const auto batches = static_cast<size_t>(dims[0]);
  const TruncatedArguments arguments{context.input(1),
                                     context.input(2),
                                     context.input(3),
                                     context.input(4),
                                     *output,
                                     generator_of(context),
                                     batches == 0 ? 0 : static_cast<size_t>(output->elements()) / batches};
  return arguments;
}

template <class T>
void compute_batches(const TruncatedArguments& arguments, Pool& pool) {
  const auto to = arguments.output.write<T>();
  parallel_items(pool, to.size(), cost_of_draw, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t batch = i / arguments.per_batch;
      const double mean = parameter<T>(arguments.means, batch),
                   deviation = parameter<T>(arguments.deviations, batch);
      const double low = (parameter<T>(arguments.least, batch) - mean) / deviation;
      const double high = (parameter<T>(arguments.most, batch) - mean) / deviation;
      Draws draws(arguments.philox, i);
      to[i] = rounded<T>(mean + deviation * draw_truncated(low, high, draws));
    }
  });
}

Status compute_truncated(const TruncatedArguments& arguments, DeviceContext& device) {
  Status status;
  with_type(TypeList<Half, float, double>{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    const size_t batches =
        arguments.per_batch == 0 ? 0 : static_cast<size_t>(arguments.output.elements()) / arguments.per_batch;
    status = check_parameters<T>(arguments, batches);
    if (status.ok()) compute_batches<T>(arguments, device.pool());
  });
  return status;
}

void add_poisson(OpLibrary& library) {
  library.op(random_op("RandomPoisson")
                 .host_input("shape: S")
                 .input("rate: dtype")
                 .output("output: dtype")
                 .attr("S: {int32, int64}")
                 .attr("dtype: {half, float, double}")
                 .shape(sampled_shape));
  library.op(random_op("RandomPoissonV2")
                 .host_input("shape: S")
                 .input("rate: R")
                 .output("output: dtype")
                 .attr("S: {int32, int64}")
                 .attr("R: {half, float, double, int32, int64} = double")
                 .attr("dtype: {half, float, double, int32, int64} = int64")
                 .constructor("random_poisson(shape, rate, dtype, seed, seed2)")
                 .shape(sampled_shape));
  for (const char* name : {"RandomPoisson", "RandomPoissonV2"})
    library.kernel(cpu_kernel(name, check_sampled, compute_sampled<draw_poisson>));
}

}  // namespace

Status check_batch_parameters(const KernelContext& context, std::span<const int64_t> dims) {
  if (dims.empty()) return invalid_argument("shape has no dimensions; the first is the batch");
  for (size_t i = 1; i < context.inputs(); ++i) {
    const Shape& shape = context.input(i).shape();
    if (shape.is_scalar() || (shape.rank() == 1 && (shape[0] == 1 || shape[0] == dims[0]))) continue;
    return invalid_argument(context.node().op->inputs[i].name + " of shape " + shape.text() +
                            " must be a scalar or have " + std::to_string(dims[0]) +
                            " elements, one for each batch");
  }
  return {};
}

Status batched_shape(ShapeContext& context) {
  for (size_t i = 1; i < context.inputs(); ++i)
    if (const PartialShape& parameter = context.input(i); parameter.known_rank() && parameter.rank() > 1)
      return invalid_argument(context.node().op->inputs[i].name + " of shape " + parameter.text() +
                              " must be a scalar or a vector");
  return random_shape(context);
}

void add_distribution_ops(OpLibrary& library) {
  library.op(random_op("RandomGamma")
                 .host_input("shape: S")
                 .input("alpha: T")
                 .output("output: T")
                 .attr("S: {int32, int64}")
                 .attr("T: {half, float, double}")
                 .constructor("random_gamma(shape, alpha, seed, seed2)")
                 .shape(sampled_shape)
                 .gradient(gamma_gradient));
  library.kernel(cpu_kernel("RandomGamma", check_sampled, compute_sampled<draw_gamma>));
  add_poisson(library);
  library.op(
      random_op("ParameterizedTruncatedNormal")
          .host_input("shape: T")
          .input("means: dtype")
          .input("stdevs: dtype")
          .input("minvals: dtype")
          .input("maxvals: dtype")
          .output("output: dtype")
          .attr("dtype: {half, float, double}")
          .attr("T: {int32, int64}")
          .constructor("parameterized_truncated_normal(shape, means, stdevs, minvals, maxvals, seed, seed2)")
          .shape(batched_shape)
          .not_differentiable());
  library.kernel(cpu_kernel("ParameterizedTruncatedNormal", check_truncated, compute_truncated));
}

}  // namespace troupe
