// Max pooling: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {

/// output = the greatest element of each window of input.
struct MaxPoolArguments {
  const Tensor& input;
  Tensor& output;  ///< pooling.output
  Pooling pooling;
};
Result<MaxPoolArguments> check_max_pool(KernelContext& context);

/// MaxPoolGrad: gradient has the dimensions pooling.output, and output those of input. MaxPoolGradGrad: the other way round.
struct MaxPoolGradArguments {
  const Tensor& input;
  const Tensor& gradient;
  Tensor& output;
  Pooling pooling;
};
Result<MaxPoolGradArguments> check_max_pool_grad(KernelContext& context);
Result<MaxPoolGradArguments> check_max_pool_grad_grad(KernelContext& context);

/// The greatest elements of one output row, and where they stand in the input: the first of equals, and NaN only where it comes
/// first. Both have columns times part.width elements.
template <class T>
void find_greatest(const PoolParts& parts, const PoolParts::Part& part, size_t row, const T* input, T* best,
                   int64_t* at) {
  std::fill_n(at, parts.columns() * part.width, int64_t{-1});
  parts.visit_row(part, row, [&](const WindowPoints& points, size_t from, size_t column) {
    T* const greatest = best + column * part.width;
    int64_t* const found = at + column * part.width;
    for (size_t p = 0; p < points.lines * points.count; ++p) {
      const size_t first = from + p / points.count * points.line_step + p % points.count * points.step;
      for (size_t i = 0; i < points.n; ++i) {
        const size_t place = first + i * points.stride;
        if (found[i] >= 0 && !(input[place] > greatest[i])) continue;
        greatest[i] = input[place];
        found[i] = static_cast<int64_t>(place);
      }
    }
  });
}

}  // namespace troupe
