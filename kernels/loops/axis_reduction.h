// Reduction of a tensor over some of its axes, whatever combines the elements: the engine under Sum, Max, All
// and their kin. Work is cut by shape alone and partial results are combined in a fixed tree, so the bits do
// not depend on the number of threads. Free functions without state; any thread.
#pragma once

#include <bitset>

#include "devices/device.h"
#include "kernels/loops/vector_loops.h"
#include "messages/values/tensor.h"

namespace troupe {

/// How elements of one dtype combine.
struct Reducer {
  ReduceLoop run = nullptr;      ///< runs of elements, each into one; the neutral element for none
  BinaryLoop combine = nullptr;  ///< two runs, element by element
  DType dtype = DType::Invalid;
};

/// Axes of a tensor.
using AxisSet = std::bitset<Shape::max_rank + 1>;

/// Which axes go, and what remains.
struct ReductionAxes {
  AxisSet reduced;    ///< of the input
  Shape shape;        ///< of the output
  int64_t count = 1;  ///< elements combined into each one of the output
};

/// InvalidArgument for an axis outside the rank; repeats count once.
Result<ReductionAxes> reduction_axes(const Tensor& input, std::span<const int64_t> axes, bool keep_dims);

/// Fills `output`, of the ReductionAxes' shape, from `input`; both of the reducer's dtype. ResourceExhausted when there is no
/// memory for partial results.
Status reduce(DeviceContext& device, const Reducer& reducer, const Tensor& input, const AxisSet& axes,
              Tensor& output);

}  // namespace troupe
