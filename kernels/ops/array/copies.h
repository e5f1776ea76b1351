// Ops that move elements and compute none: what every type of device does after the check on the host. There are three such
// kernels: a box of elements is copied between two tensors, many tensors are joined into one, and one is split into many. A type of
// device needs one compute function for each of the three; those of CPUs are declared here. They cannot fail.
#pragma once

#include <span>

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {

// ---- A box of elements

/// Copies a box of elements of one tensor to a box of another. Both tensors have the same dtype.
struct BoxCopyArguments {
  const Tensor* from = nullptr;
  Tensor* to = nullptr;  ///< null when the output shares the memory of the input: there is nothing to copy
  BoxCopy box = {};      ///< which elements; may be empty
  bool clear_to_zeros = false;  ///< before copying, sets all elements of `to` to zero, strings to ""
};

/// InvalidArgument when input does not broadcast to `shape`.
Result<BoxCopyArguments> check_broadcast_to(KernelContext& context);
/// InvalidArgument when paddings do not fit the rank of the input, are negative or too large.
Result<BoxCopyArguments> check_pad(KernelContext& context);
/// For ReverseV2. InvalidArgument when an axis is out of range or named twice.
Result<BoxCopyArguments> check_reverse(KernelContext& context);
/// InvalidArgument when the slice is not inside the input.
Result<BoxCopyArguments> check_slice(KernelContext& context);
/// InvalidArgument when begin, end, strides or masks do not fit the shape of the input.
Result<BoxCopyArguments> check_strided_slice(KernelContext& context);
/// InvalidArgument when they do not fit `shape`, or dy does not have the shape of the slice.
Result<BoxCopyArguments> check_strided_slice_grad(KernelContext& context);
/// InvalidArgument when multiples do not fit the rank of the input, are negative or too large.
Result<BoxCopyArguments> check_tile(KernelContext& context);
/// InvalidArgument when perm is not a permutation of the dimensions of x.
Result<BoxCopyArguments> check_transpose(KernelContext& context);

void compute_box_copy(const BoxCopyArguments& arguments, DeviceContext& device);

// ---- Joining

/// Each row of `output` consists of the same row of every value, in the order of the values. A row of a tensor has
/// `elements() / rows` elements.
struct ConcatArguments {
  std::span<const Slot> values;  ///< tensors with the dtype of the output
  Tensor& output;
  size_t rows;  ///< 0: the output has no elements
};

/// For Concat and ConcatV2. InvalidArgument when the axis is out of range, or the shapes differ in another dimension.
Result<ConcatArguments> check_concat(KernelContext& context);
/// InvalidArgument when the axis is out of range, or the shapes differ.
Result<ConcatArguments> check_pack(KernelContext& context);

void compute_concat(const ConcatArguments& arguments, DeviceContext& device);

// ---- Splitting

/// The inverse: each row of `value` consists of the same row of every part, in the order of the parts.
struct SplitArguments {
  const Tensor& value;
  std::span<Tensor> parts;  ///< tensors with the dtype of the value
  size_t rows;              ///< 0: the value has no elements
};

/// InvalidArgument when the axis is out of range, or its size is not a multiple of the number of outputs.
Result<SplitArguments> check_split(KernelContext& context);
/// InvalidArgument when the axis is out of range, or size_splits do not add up to its size.
Result<SplitArguments> check_split_v(KernelContext& context);
/// InvalidArgument when the axis is out of range, or its size is not the number of outputs.
Result<SplitArguments> check_unpack(KernelContext& context);

void compute_split(const SplitArguments& arguments, DeviceContext& device);

}  // namespace troupe
