// Reductions of tensors over any axes on GPUs, with the arithmetic of Sum, Mean, Prod, Max, Min and norms. Any thread may call
// these functions.
#pragma once

#include <limits>

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/functions.h"
#include "kernels/gpu/reduce.h"
#include "kernels/loops/rows.h"

namespace troupe::gpu {

template <class Acc>
struct Times {
  TROUPE_ANY Acc neutral() const { return Acc(1); }
  TROUPE_ANY Acc operator()(Acc a, Acc b) const { return a * b; }
};
template <class Acc>
struct Greatest {
  TROUPE_ANY Acc neutral() const { return -std::numeric_limits<Acc>::infinity(); }
  TROUPE_ANY Acc operator()(Acc a, Acc b) const { return Maximum()(a, b); }
};
template <class Acc>
struct Least {
  TROUPE_ANY Acc neutral() const { return std::numeric_limits<Acc>::infinity(); }
  TROUPE_ANY Acc operator()(Acc a, Acc b) const { return Minimum()(a, b); }
};
struct AllTrue {
  TROUPE_ANY bool neutral() const { return true; }
  TROUPE_ANY bool operator()(bool a, bool b) const { return a && b; }
};
struct AnyTrue {
  TROUPE_ANY bool neutral() const { return false; }
  TROUPE_ANY bool operator()(bool a, bool b) const { return a || b; }
};

/// Stores results divided by a number, or the square roots of the quotients.
template <class T>
struct QuotientSink {
  T* data;
  Wide<T> divisor = 1;
  bool root = false;

  TROUPE_ANY void operator()(size_t output, Wide<T> value) const {
    value = value / divisor;
    store(data[output], root ? std::sqrt(value) : value);
  }
};

/// Reduces a tensor of dimensions `dims` over `axes`: what the source reads goes to the sink.
template <class Combine, class T, class Acc, class Sink>
Status reduce_axes(DeviceContext& device, std::span<const int64_t> dims, const AxisSet& axes,
                   const TensorSource<T, Acc>& source, const Sink& sink) {
  auto boxes = reduction_boxes(dims, axes);
  if (boxes.empty()) boxes.push_back({count_of(dims), 1, 1});  // every reduced axis has size 1
  if (boxes.size() == 1) return reduce_box<Acc>(device, boxes[0], Combine(), source, sink);
  BufferRef from;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    const TensorSource<Acc> partial{from ? reinterpret_cast<const Acc*>(from->data) : nullptr};
    if (i + 1 == boxes.size()) return reduce_box<Acc>(device, box, Combine(), partial, sink);
    TROUPE_ASSIGN(BufferRef to, scratch(device, box.outer * box.inner * sizeof(Acc)));
    const PartialSink<Acc> next{reinterpret_cast<Acc*>(to->data)};
    TROUPE_RETURN_IF_FAILED(i == 0 ? reduce_box<Acc>(device, box, Combine(), source, next)
                                   : reduce_box<Acc>(device, box, Combine(), partial, next));
    from = std::move(to);
  }
  return {};
}

}  // namespace troupe::gpu
