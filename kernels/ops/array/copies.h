// Ops that move elements and compute nothing: the checks on the host, and the arguments that they return to the compute
// function of each type of device (kernels/core/checked_kernel.h). There are three such kernels: a box of elements is copied
// from one tensor to another, many tensors are joined into one, and one tensor is split into many. A type of device needs one
// compute function for each of the three; those of CPUs are declared here and cannot fail. Any thread may call the checks.
#pragma once

#include <optional>
#include <span>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {

// ---- A box of elements

/// Copies a box of elements of one tensor to a box of another. Both tensors have the same dtype.
struct BoxCopyArguments {
  const Tensor* from = nullptr;
  Tensor* to = nullptr;  ///< null if the output shares the memory of the input; nothing is copied then
  BoxCopy box = {};      ///< the elements to copy; may be empty
  /// If true, all elements of `to` are set to the background before copying.
  bool fills = false;
  const Tensor* background = nullptr;  ///< a scalar in host memory; null: zero, or the empty string
};

/// Returns how a tensor is read so that it is repeated to `dims` as in NumPy, or nothing if it does not broadcast to them.
std::optional<Layout> broadcast_layout(const Shape& shape, std::span<const int64_t> dims);

/// Fails with InvalidArgument if the input does not broadcast to `shape`.
Result<BoxCopyArguments> check_broadcast_to(KernelContext& context);
/// Fails with InvalidArgument if the diagonal is a scalar.
Result<BoxCopyArguments> check_diag(KernelContext& context);
/// Fails with InvalidArgument unless the second half of the dimensions is the same as the first.
Result<BoxCopyArguments> check_diag_part(KernelContext& context);
/// Checks Pad and PadV2. Fails with InvalidArgument if paddings do not fit the rank of the input, are negative or too large.
Result<BoxCopyArguments> check_pad(KernelContext& context);
/// Checks ReverseV2 and Reverse. Fails with InvalidArgument if an axis is out of range or named twice, or dims is no vector
/// of the rank of the tensor.
Result<BoxCopyArguments> check_reverse(KernelContext& context);
/// Fails with InvalidArgument if the slice is not inside the input.
Result<BoxCopyArguments> check_slice(KernelContext& context);
/// Checks SpaceToDepth and DepthToSpace. Fails with InvalidArgument unless the input is of rank 4 and consists of whole blocks.
Result<BoxCopyArguments> check_space_depth(KernelContext& context);
/// Fails with InvalidArgument if begin, end, strides or masks do not fit the shape of the input.
Result<BoxCopyArguments> check_strided_slice(KernelContext& context);
/// Fails with InvalidArgument if begin, end, strides or masks do not fit `shape`, or dy does not have the shape of the slice.
Result<BoxCopyArguments> check_strided_slice_grad(KernelContext& context);
/// Fails with InvalidArgument if multiples do not fit the rank of the input, are negative or too large.
Result<BoxCopyArguments> check_tile(KernelContext& context);
/// Fails with InvalidArgument if perm is not a permutation of the dimensions of x.
Result<BoxCopyArguments> check_transpose(KernelContext& context);

void compute_box_copy(const BoxCopyArguments& arguments, DeviceContext& device);

// ---- Joining

/// Each row of `output` consists of the same row of every value, in the order of the values. A row of a tensor has
/// `elements() / rows` elements.
struct ConcatArguments {
  std::span<const Slot> values;  ///< tensors with the dtype of the output
  Tensor& output;
  size_t rows;  ///< if 0, the output has no elements
};

/// Infers the shape of output 0 of the ops that check_concat checks.
Status concat_shape(ShapeContext& context);
/// Checks Concat and ConcatV2, and the values and axis of QuantizedConcat. Fails with InvalidArgument if the axis is out of
/// range, or the shapes differ in another dimension.
Result<ConcatArguments> check_concat(KernelContext& context);
/// Fails with InvalidArgument if the axis is out of range or the shapes differ.
Result<ConcatArguments> check_pack(KernelContext& context);

void compute_concat(const ConcatArguments& arguments, DeviceContext& device);

// ---- Splitting

/// The inverse of joining: each row of `value` consists of the same row of every part, in the order of the parts.
struct SplitArguments {
  const Tensor& value;
  std::span<Tensor> parts;  ///< tensors with the dtype of the value
  size_t rows;              ///< if 0, the value has no elements
};

/// Fails with InvalidArgument if the axis is out of range, or its size is not a multiple of the number of outputs.
Result<SplitArguments> check_split(KernelContext& context);
/// Fails with InvalidArgument if the axis is out of range, or size_splits do not add up to its size.
Result<SplitArguments> check_split_v(KernelContext& context);
/// Fails with InvalidArgument if the axis is out of range, or its size is not the number of outputs.
Result<SplitArguments> check_unpack(KernelContext& context);

void compute_split(const SplitArguments& arguments, DeviceContext& device);

}  // namespace troupe
