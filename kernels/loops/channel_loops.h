// What batch normalisation computes of floats, in the vector instructions of the processor at hand: statistics of channels, and
// functions of elements with coefficients that belong to channels. Plain functions, any thread.
#pragma once

#include <cstddef>

namespace troupe {

/// `rows` rows of n elements, one after the other. Side by side, column i is channel i and coefficients have n elements; else all
/// is one channel, and they have one.
struct ChannelBlock {
  size_t rows, n;
};

struct ChannelLoops {
  /// The mean of each channel and the sum of its squared distances from it. There is at least one element.
  void (*moments)(const ChannelBlock& block, const float* x, float* mean, float* squares);
  /// sum = sum dy, product = sum dy (x - mean)
  void (*gradient_sums)(const ChannelBlock& block, const float* dy, const float* x, const float* mean,
                        float* sum, float* product);
  /// y = (x - mean) factor + offset; y may be x
  void (*normalize)(const ChannelBlock& block, const float* x, const float* mean, const float* factor,
                    const float* offset, float* y);
  /// dx = dy by_gradient + ((x - mean) by_distance + rest)
  void (*gradient)(const ChannelBlock& block, const float* dy, const float* x, const float* mean,
                   const float* by_gradient, const float* by_distance, const float* rest, float* dx);
};

const ChannelLoops& channel_loops(bool side_by_side);

}  // namespace troupe
