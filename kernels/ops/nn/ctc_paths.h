// What the decoders of connectionist temporal classification share: logits of a batch of sequences in, sparse matrices of classes
// out. Free functions; any thread may call them.
#pragma once

#include <vector>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {

/// Returns the size of the batch of logits [time, batch, classes] and lengths [batch], inputs 0 and 1 of a decoder, as a vector.
Result<PartialShape> decoder_batch(const ShapeContext& context);
/// Fails with InvalidArgument unless inputs 0 and 1 are logits of at least one step and class, and a length for each sequence.
Status check_decoder_inputs(const KernelContext& context);
/// Fails with InvalidArgument for a length outside [0, time].
Status check_lengths(const Tensor& logits, const Tensor& lengths);

/// One sequence of classes for each element of a batch, and the sparse matrix [batch, longest sequence] that holds them.
struct DecodedPath {
  std::vector<std::vector<int64_t>> sequences = {};
  Tensor *indices = nullptr, *values = nullptr, *shape = nullptr;
};

/// Allocates the matrix as three outputs, whose numbers are `first`, `first` + step and `first` + 2 step.
Status allocate_path(DecodedPath& path, KernelContext& context, size_t first, size_t step);
void write_path(const DecodedPath& path);

}  // namespace troupe
