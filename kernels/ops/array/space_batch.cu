// SpaceToBatch, BatchToSpace and their forms for any number of dimensions, on GPUs: see space_batch.cpp.
#include "kernels/ops/array/space_batch.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/storage.h"
#include "kernels/gpu/units.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

constexpr size_t max_block_axes = 8;

/// A spatial dimension.
struct BlockAxis {
  gpu::Divider output, block;  ///< the sizes of the dimension in the output, and of a block
  int64_t input, before;       ///< the size of the dimension in the input, and the elements before it
  int64_t step;                ///< from one element of the dimension to the next in the input, in units
};

/// Moves unit i of the output. What follows the spatial dimensions is a row, whose elements stay together.
template <class T>
struct MoveBlocks {
  const T* from;
  T* to;
  gpu::Divider row;
  gpu::Divider output_entry = {};  ///< the size of an entry of the batch, in units like that of a row
  int64_t input_entry = 0;         ///< the same of the input
  gpu::Divider batch = {};         ///< how many entries the tensor with the larger spatial dimensions has
  bool to_batch = false;
  unsigned rank = 0;
  BlockAxis axes[max_block_axes] = {};

  TROUPE_ANY void operator()(size_t i) const {
    const size_t entry = output_entry.quotient(i);
    size_t rest = i - entry * output_entry.divisor();
    const auto column = static_cast<int64_t>(gpu::split(row, rest));
    const int64_t source = to_batch ? source_in_space(entry, rest) : source_in_batch(entry, rest);
    to[i] = source < 0 ? T{} : from[source + column];
  }

 private:
  /// Returns where a row comes from; -1: from outside of the input.
  TROUPE_ANY int64_t source_in_space(size_t entry, size_t place) const {
    size_t offsets = batch.quotient(entry);
    int64_t source = static_cast<int64_t>(entry - offsets * batch.divisor()) * input_entry;
    for (unsigned k = rank; k-- > 0;) {
      const BlockAxis& axis = axes[k];
      const size_t first = gpu::split(axis.output, place) * axis.block.divisor();
      const int64_t at = static_cast<int64_t>(first + gpu::split(axis.block, offsets)) - axis.before;
      if (at < 0 || at >= axis.input) return -1;
      source += at * axis.step;
    }
    return source;
  }
  TROUPE_ANY int64_t source_in_batch(size_t entry, size_t place) const {
    int64_t source = 0;
    size_t offset = 0, offsets = 1;  // the offset in a block, of the axes so far; how many offsets there are
    for (unsigned k = rank; k-- > 0;) {
      const BlockAxis& axis = axes[k];
      size_t at = gpu::split(axis.output, place) + static_cast<size_t>(axis.before);
      offset += gpu::split(axis.block, at) * offsets;
      offsets *= axis.block.divisor();
      source += static_cast<int64_t>(at) * axis.step;
    }
    return source + static_cast<int64_t>(offset * batch.divisor() + entry) * input_entry;
  }
};

/// Describes the move of units of which a row has `row`.
template <class T>
MoveBlocks<T> move_of(const SpaceBatchArguments& arguments, size_t row) {
  const auto& [input, output, to_batch, blocks] = arguments;
  MoveBlocks<T> move{gpu::stored<T>(input), gpu::stored<T>(output), gpu::Divider(row)};
  move.rank = static_cast<unsigned>(blocks.sizes.size());
  move.to_batch = to_batch;
  move.batch = gpu::divider((to_batch ? input : output).shape()[0]);
  size_t entry = row;
  move.input_entry = static_cast<int64_t>(row);
  for (size_t k = blocks.sizes.size(); k-- > 0;) {
    move.axes[k] = {gpu::divider(output.shape()[k + 1]), gpu::divider(blocks.sizes[k]), input.shape()[k + 1],
                    blocks.before(k), move.input_entry};
    move.input_entry *= input.shape()[k + 1];
    entry *= static_cast<size_t>(output.shape()[k + 1]);
  }
  move.output_entry = gpu::Divider(entry);
  return move;
}

Status compute_move(const SpaceBatchArguments& arguments, DeviceContext& device) {
  const Tensor &input = arguments.input, &output = arguments.output;
  if (output.elements() == 0) return {};
  const size_t rank = arguments.blocks.sizes.size(), element = size_of(output.dtype());
  if (rank > max_block_axes)
    return unimplemented("blocks have " + std::to_string(rank) +
                         " dimensions, kernels of GPUs take at most " + std::to_string(max_block_axes));
  const size_t row = count_of(output.shape().dims().subspan(rank + 1));
  const size_t unit = gpu::unit_of_rows(element, row, input.data(), output.data());
  return gpu::with_unit(unit, [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, output.bytes() / unit, move_of<T>(arguments, row * element / unit));
  });
}

}  // namespace

void add_space_batch_on_gpu(OpLibrary& library) {
  for (const char* op : {"SpaceToBatch", "BatchToSpace", "SpaceToBatchND", "BatchToSpaceND"})
    library.kernel(
        gpu_kernel(op, check_space_batch, compute_move).on("T", dtypes(gpu::MovedTypesAndIntegers{})));
}

}  // namespace troupe
