// Sampling from categories with Multinomial and StatelessMultinomial: the checks on the host, the arguments that they return to the
// compute function of each type of device (kernels/core/checked_kernel.h), and what the devices share. Any thread may call the
// functions.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/random/stateless.h"

namespace troupe {

/// output[row, i] = a class of logits[row], drawn with the probabilities softmax(logits[row]). A logit that is not finite counts as
/// minus infinity.
struct CategoricalArguments {
  const Tensor& logits;  ///< [rows, classes], a real type
  Tensor& output;        ///< [rows, samples], int32 or int64
  size_t rows, classes, samples;
};

/// The numbers in [0, 1) that choose the classes of Multinomial: the counter of the generator is row * 2^24 + sample / 2.
struct SessionFractions {
  Philox philox;
  TROUPE_ANY double operator()(size_t row, size_t sample) const {
    return uniform_number<double>(philox((uint64_t{row} << 24) + sample / 2), sample % 2);
  }
};
/// Those of StatelessMultinomial: sample i takes pair number i of the words, counted over all rows.
struct StatelessFractions {
  Philox philox;
  size_t samples;
  TROUPE_ANY double operator()(size_t row, size_t sample) const {
    const uint64_t i = row * samples + sample;
    return stateless::fraction_number<double>(philox(i / 2), i % 2);
  }
};

template <class Fractions>
struct DrawnCategories {
  CategoricalArguments categorical;
  Fractions fractions;
};

/// Fails with InvalidArgument as check_categorical() does.
Result<DrawnCategories<SessionFractions>> check_multinomial(KernelContext& context);
/// Fails with InvalidArgument if the seed is no integer vector [2], too.
Result<DrawnCategories<StatelessFractions>> check_stateless_multinomial(KernelContext& context);

/// Fails with InvalidArgument if logits is no matrix, num_samples is no scalar or negative, or if there are samples but no classes.
Result<CategoricalArguments> check_categorical(KernelContext& context);
/// The shape of Multinomial and StatelessMultinomial.
Status categorical_shape(ShapeContext& context);

/// Returns the sums of exp(logit - the largest logit) over the classes up to each one.
std::vector<double> cumulative_weights(const CategoricalArguments& arguments, size_t row);
/// Returns the class in whose part of the cumulative weights a number in [0, 1) lies.
TROUPE_ANY inline int64_t category_of(const double* sums, size_t classes, double fraction) {
  const double weight = fraction * sums[classes - 1];
  size_t first = 0, end = classes - 1;  // the last class takes what rounding leaves over
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (sums[middle] > weight)
      end = middle;
    else
      first = middle + 1;
  }
  return static_cast<int64_t>(first);
}
/// Writes the class of a sample.
void set_category(const CategoricalArguments& arguments, size_t row, size_t sample, int64_t category);

/// Draws all samples on the CPU.
template <class Fractions>
void draw_categories(const DrawnCategories<Fractions>& drawn, DeviceContext& device) {
  const CategoricalArguments& arguments = drawn.categorical;
  if (arguments.samples == 0) return;  // there may be any number of rows
  const size_t cost = 16 * (arguments.classes + 8 * arguments.samples);
  parallel_rows(device.pool(), arguments.rows, cost, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const std::vector<double> sums = cumulative_weights(arguments, row);
      for (size_t sample = 0; sample < arguments.samples; ++sample)
        set_category(arguments, row, sample,
                     category_of(sums.data(), sums.size(), drawn.fractions(row, sample)));
    }
  });
}

}  // namespace troupe
