// Sampling from categories: what Multinomial and StatelessMultinomial share. Any thread may call the functions.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"

namespace troupe {

/// output[row, i] = a class of logits[row], drawn with the probabilities softmax(logits[row]). A logit that is not finite counts as
/// minus infinity.
struct CategoricalArguments {
  const Tensor& logits;  ///< [rows, classes], a real type
  Tensor& output;        ///< [rows, samples], int32 or int64
  size_t rows, classes, samples;
};

/// Fails with InvalidArgument if logits is no matrix, num_samples is no scalar or negative, or if there are samples but no classes.
Result<CategoricalArguments> check_categorical(KernelContext& context);
/// The shape of Multinomial and StatelessMultinomial.
Status categorical_shape(ShapeContext& context);

/// Returns the sums of exp(logit - the largest logit) over the classes up to each one.
std::vector<double> cumulative_weights(const CategoricalArguments& arguments, size_t row);
/// Writes the class of a sample.
void set_category(const CategoricalArguments& arguments, size_t row, size_t sample, int64_t category);

/// Draws all samples; `uniform` returns a number in [0, 1) for a row and a sample.
template <class Uniform>
void draw_categories(const CategoricalArguments& arguments, Pool& pool, const Uniform& uniform) {
  if (arguments.samples == 0) return;  // there may be any number of rows
  const size_t cost = 16 * (arguments.classes + 8 * arguments.samples);
  parallel_rows(pool, arguments.rows, cost, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const std::vector<double> sums = cumulative_weights(arguments, row);
      for (size_t sample = 0; sample < arguments.samples; ++sample) {
        const auto found = std::ranges::upper_bound(sums, uniform(row, sample) * sums.back());
        set_category(arguments, row, sample, std::min<int64_t>(found - sums.begin(), arguments.classes - 1));
      }
    }
  });
}

}  // namespace troupe
