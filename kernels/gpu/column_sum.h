// Sums for each channel of a tensor [batch, channels, spatial], on GPUs: for gradients of biases and for batch norms. A tensor
// whose channels are the last dimension is one with spatial = 1. Equal inputs give equal bits. Any thread may call these functions.
#pragma once

#include "kernels/gpu/reduce.h"

namespace troupe::gpu {

/// Addition of numbers, or of structs that have operator+ and a default value of zero.
template <class Acc>
struct Plus {
  TROUPE_ANY Acc neutral() const { return Acc{}; }
  TROUPE_ANY Acc operator()(const Acc& a, const Acc& b) const { return a + b; }
};

/// Two numbers that are added up together.
template <class T>
struct TwoSums {
  T first = 0, second = 0;
  TROUPE_ANY friend TwoSums operator+(const TwoSums& a, const TwoSums& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

struct ChannelBox {
  size_t batch = 1, channels = 1, spatial = 1;
};

/// Calls sink(c, total) for each channel c, where `total` combines the source's values of all elements of the channel. Source,
/// Combine and Sink are those of reduce_box().
template <class Acc, class Combine, class Source, class Sink>
Status reduce_channels(DeviceContext& device, const ChannelBox& box, const Combine& combine,
                       const Source& source, const Sink& sink) {
  const auto& [batch, channels, spatial] = box;
  if (spatial == 1) return reduce_box<Acc>(device, Box{1, batch, channels}, combine, source, sink);
  if (batch == 1) return reduce_box<Acc>(device, Box{channels, spatial, 1}, combine, source, sink);
  TROUPE_ASSIGN(const BufferRef memory, scratch(device, batch * channels * sizeof(Acc)));
  Acc* const partial = reinterpret_cast<Acc*>(memory->data);
  TROUPE_RETURN_IF_FAILED(
      reduce_box<Acc>(device, Box{batch * channels, spatial, 1}, combine, source, PartialSink<Acc>{partial}));
  return reduce_box<Acc>(device, Box{1, batch, channels}, combine, PartialSource<Acc>{partial}, sink);
}

/// Stores numbers as elements of a tensor.
template <class T>
struct TensorSink {
  T* data;
  TROUPE_ANY void operator()(size_t output, Wide<T> value) const { store(data[output], value); }
};

/// sums[c] = the sum of values[b, c, s] over all b and s; of narrow floats, in float.
template <class T>
Status sum_channels(DeviceContext& device, const ChannelBox& box, const T* values, T* sums) {
  using Acc = Wide<T>;
  return reduce_channels<Acc>(device, box, Plus<Acc>{}, TensorSource<T>{values}, TensorSink<T>{sums});
}

}  // namespace troupe::gpu
