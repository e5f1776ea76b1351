// Reduction of a tensor over some of its axes with any function that combines elements; Sum, Max, All and similar ops use it.
// Work is cut by shape alone and partial results are combined in a fixed tree, so the bits of the result do not depend on the
// number of threads. Free functions without state; any thread may call them.
#pragma once

#include <bitset>

#include "devices/device.h"
#include "kernels/core/dims.h"
#include "kernels/loops/vector_loops.h"
#include "messages/values/tensor.h"

namespace troupe {

/// The function that combines elements of one dtype.
struct Reducer {
  /// Reduces each run of elements to one element; the neutral element if there are none.
  ReduceLoop run = nullptr;
  BinaryLoop combine = nullptr;  ///< combines two runs, element by element
  DType dtype = DType::Invalid;
};

/// A set of axes of a tensor.
using AxisSet = std::bitset<Shape::max_rank + 1>;

/// The axes over which a tensor is reduced, and the result.
struct ReductionAxes {
  AxisSet reduced;    ///< the axes of the input
  Shape shape;        ///< the shape of the output
  int64_t count = 1;  ///< the number of elements combined into each element of the output
};

/// A box [outer, reduced, inner] that is reduced over its middle axis.
struct ReductionBox {
  size_t outer = 1, reduced = 1, inner = 1;
};
/// Returns the boxes by whose reduction, one after the other, a tensor of dimensions `dims` is reduced over `axes`: each is the
/// result of the one before. There is none if every reduced axis has size 1.
ShortList<ReductionBox> reduction_boxes(std::span<const int64_t> dims, const AxisSet& axes);

/// The failure of axes that name a dimension twice, of which this one is the second.
std::string repeated_axis(int64_t axis);
/// Returns the axes of a reduction and the shape of its output. Fails with InvalidArgument if an axis is outside [-rank, rank), or
/// stands for the dimension of another one.
Result<ReductionAxes> reduction_axes(const Tensor& input, std::span<const int64_t> axes, bool keep_dims);

/// Reduces `input` over `axes` into `output`, which has the shape of the ReductionAxes; both have the dtype of the reducer.
/// Fails with ResourceExhausted if there is no memory for partial results.
Status reduce(DeviceContext& device, const Reducer& reducer, const Tensor& input, const AxisSet& axes,
              Tensor& output);

}  // namespace troupe
