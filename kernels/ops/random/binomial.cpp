// RandomBinomial(shape, counts, probs): how many of `counts` experiments succeed of which each succeeds with probability `probs`.
// Dimension 0 of the output is the batch; each parameter is a scalar or has one number for each batch. Fewer than 10 successes, on
// average, are counted by the distances between them; more are drawn by transformed rejection (Hörmann 1993, algorithm BTRS). A
// count is rounded down; one below 1 and a probability of 0 or less give 0, a probability of 1 or more the count. A count that is
// not finite, or NaN as a probability, gives NaN, or 0 as an integer. TensorFlow 1.15 has the distribution as
// StatefulRandomBinomial, whose random state is in a variable. Element i of the output takes its bits from the groups 256 i,
// 256 i + 1, ... (Draws in generator.h).
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/random/distributions.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

/// Adds distances between successes, which are geometric, up to the number of experiments.
double draw_few(double count, double probability, Draws& draws) {
  const double scale = 1 / std::log1p(-probability);
  double successes = 0;
  for (double at = 0;; ++successes) {
    at += std::max(std::ceil(std::log(draws.positive()) * scale), 1.0);
    if (at > count) return successes;
  }
}

/// Hörmann's algorithm BTRS, for probabilities of at most 1/2.
double draw_many(double count, double probability, Draws& draws) {
  const double deviation = std::sqrt(count * probability * (1 - probability)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * probability, center = count * probability + 0.5;
  const double alpha = (2.83 + 5.1 / b) * deviation, certain = 0.92 - 4.2 / b;
  const double log_odds = std::log(probability / (1 - probability));
  const double mode = std::floor((count + 1) * probability);
  const double of_mode = log_factorial(mode) + log_factorial(count - mode);
  while (true) {
    const double u = draws.uniform() - 0.5, v = draws.positive(), distance = 0.5 - std::abs(u);
    const double successes = std::floor((2 * a / distance + b) * u + center);
    if (distance >= 0.07 && v <= certain) return successes;
    if (successes < 0 || successes > count) continue;
    if (std::log(v * alpha / (a / (distance * distance) + b)) <=
        of_mode - log_factorial(successes) - log_factorial(count - successes) + (successes - mode) * log_odds)
      return successes;
  }
}

double draw_binomial(double count, double probability, Draws& draws) {
  if (!std::isfinite(count) || std::isnan(probability)) return std::numeric_limits<double>::quiet_NaN();
  count = std::floor(count);
  if (count <= 0 || probability <= 0) return 0;
  if (probability >= 1) return count;
  if (probability > 0.5) return count - draw_binomial(count, 1 - probability, draws);
  return count * probability < 10 ? draw_few(count, probability, draws)
                                  : draw_many(count, probability, draws);
}

struct BinomialArguments {
  const Tensor &counts, &probabilities;
  Tensor& output;
  Philox philox;
  size_t per_batch;  ///< the number of elements of a batch
};

Result<BinomialArguments> check_binomial(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "shape"));
  TROUPE_RETURN_IF_FAILED(check_batch_parameters(context, dims));
  TROUPE_ASSIGN(Tensor* const output, random_output(context));
  const int64_t per_batch = output->elements() / std::max<int64_t>(dims[0], 1);
  return BinomialArguments{context.input(1), context.input(2), *output, generator_of(context),
                           static_cast<size_t>(per_batch)};
}

void compute_binomial(const BinomialArguments& arguments, DeviceContext& device) {
  with_type(SampledTypes{}, arguments.counts.dtype(), [&]<class P>(std::type_identity<P>) {
    with_type(SampledTypes{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
      const auto to = arguments.output.template write<T>();
      parallel_items(device.pool(), to.size(), cost_of_draw, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const size_t batch = i / arguments.per_batch;
          Draws draws(arguments.philox, i);
          to[i] = rounded<T>(draw_binomial(parameter<P>(arguments.counts, batch),
                                           parameter<P>(arguments.probabilities, batch), draws));
        }
      });
    });
  });
}

}  // namespace

void add_binomial(OpLibrary& library) {
  library.op(random_op("RandomBinomial")
                 .host_input("shape: S")
                 .input("counts: T")
                 .input("probs: T")
                 .output("output: dtype")
                 .attr("S: {int32, int64}")
                 .attr("T: {half, float, double, int32, int64} = double")
                 .attr("dtype: {half, float, double, int32, int64} = int64")
                 .constructor("random_binomial(shape, counts, probs, dtype, seed, seed2)")
                 .shape(batched_shape));
  library.kernel(cpu_kernel("RandomBinomial", check_binomial, compute_binomial));
}

}  // namespace troupe
