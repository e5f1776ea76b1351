// Padding by reflection, for the ops that pad (MirrorPad, FusedPadConv2D). Free functions; any thread.
#pragma once

#include "devices/pool.h"
#include "graph/build/shape_context.h"
#include "kernels/core/dims.h"
#include "kernels/core/kernel.h"

namespace troupe {

struct MirrorPadding {
  Dims paddings;       ///< for each dimension: how many elements before it and behind it
  int64_t unused = 0;  ///< elements at a border that are not mirrored: 1 in REFLECT mode, 0 in SYMMETRIC mode
  Shape padded;        ///< the shape of the result
};

/// The arguments of MirrorPad and MirrorPadGrad.
struct MirrorArguments {
  const Tensor& input;
  Tensor* output;  ///< null when nothing is padded: the output is the input
  MirrorPadding padding;
};

/// Checks MirrorPad. Fails with InvalidArgument where mirror_padding() does.
Result<MirrorArguments> check_mirror_pad(KernelContext& context);
/// Checks MirrorPadGrad, whose output lacks the padding. Fails with InvalidArgument if MirrorPad could not have padded so.
Result<MirrorArguments> check_mirror_pad_grad(KernelContext& context);

/// Returns what is known of the shape of input 0, padded by input 1. Fails with InvalidArgument where mirror_padding() does.
Result<PartialShape> mirror_padded_shape(const ShapeContext& context);
/// Returns how input 0 is padded by input 1, `paddings`, in the node's `mode`. Fails with InvalidArgument if paddings do not fit
/// the input's rank, are negative, or are larger than what can be mirrored.
Result<MirrorPadding> mirror_padding(const KernelContext& context);
/// Writes the padded input to `output`, of shape `padded`.
void mirror_pad(Pool& pool, const Tensor& input, const MirrorPadding& padding, Tensor& output);

}  // namespace troupe
