// Sparse tensors, as ops take and return them: three tensors. `indices`, int64 [n, rank], has the position of each value in a
// dense tensor; `values` is [n]; the dense shape, int64 [rank], is in host memory. Elements without a value are 0. The checks
// of ops on the host read the shapes of the three tensors (read_sparse), and their compute functions read the indices
// (offsets_of). Errors name the argument, the position and the value. Pure functions; any thread may call them.
#pragma once

#include <optional>
#include <span>

#include "devices/device.h"
#include "graph/build/shape_context.h"
#include "kernels/core/dims.h"
#include "kernels/core/kernel.h"

namespace troupe {

/// The numbers of the inputs that make a sparse tensor.
struct SparseInputs {
  size_t indices, values, shape;

  /// The usual order: the three are neighbours.
  static SparseInputs from(size_t first) { return {first, first + 1, first + 2}; }
};

/// Positions in a dense tensor. They are not checked yet.
struct Positions {
  const Tensor& indices;  ///< int64 or int32 [n, rank]
  Dims dims;              ///< the dense shape; the product of its elements fits an int64
  const Node& node;       ///< the node and its inputs, for errors
  size_t indices_input, shape_input;

  size_t count() const { return static_cast<size_t>(indices.shape()[0]); }
  size_t rank() const { return dims.size(); }
};

struct SparseTensor : Positions {
  const Tensor& values;
};

/// For shape functions: returns what is known of the shape [n, rank] of the indices. Fails with InvalidArgument if the shapes
/// of the three inputs contradict each other.
Result<PartialShape> sparse_shape(const ShapeContext& context, const SparseInputs& at);

/// Fails with InvalidArgument if the three inputs are no sparse tensor, an element of the dense shape is negative, or the
/// product of its elements does not fit an int64.
Result<SparseTensor> read_sparse(const KernelContext& context, const SparseInputs& at);
/// Does the same for indices and a dense shape without values.
Result<Positions> read_positions(const KernelContext& context, size_t indices, size_t shape);

/// Fails with InvalidArgument "b of shape [3] has rank 1, expected 2" if input i has another rank.
Status check_rank(const KernelContext& context, size_t i, size_t rank);

/// Fails with InvalidArgument unless these are the dimensions of a dense tensor: none is negative, and the product of those
/// that are not 0 fits an int64. `name` is that of the argument.
Status check_dense_shape(std::span<const int64_t> dims, std::string_view name);

/// Returns for each position the sum of its indices times the strides: int64 [n]. With the strides of the dense shape these are
/// row-major numbers. Fails with InvalidArgument "indices[3] = [0,7] is outside shape [2,5]" for the first position outside.
Result<Tensor> offsets_of(DeviceContext& device, const Positions& positions,
                          std::span<const int64_t> strides);
/// Returns the row-major numbers of the positions.
Result<Tensor> numbers_of(DeviceContext& device, const Positions& positions);

/// Returns the row-major numbers of the positions. Fails with InvalidArgument if one is less than the number before it.
Result<Tensor> ascending_numbers_of(DeviceContext& device, const Positions& positions);
/// Fails with InvalidArgument, naming the positions, if a number is less than the one before it.
Status check_ascending(const Positions& positions, std::span<const int64_t> numbers);

/// Returns the order in which the numbers, which are not negative, ascend: int64 [n]. Equal numbers keep their order. Returns
/// nothing if the numbers ascend already.
Result<std::optional<Tensor>> ascending_order(DeviceContext& device, std::span<const int64_t> numbers);

/// Copies the entries with these numbers: the values, and the indices without `start` (nothing is subtracted if it is empty).
void take_entries(Pool& pool, const Tensor& indices, const Tensor& values, std::span<const int64_t> entries,
                  Tensor& out_indices, Tensor& out_values, std::span<const int64_t> start = {});
/// Copies all elements of `from` to the elements of `to` from number `first` on.
void copy_elements(Pool& pool, const Tensor& from, Tensor& to, int64_t first = 0);

/// Writes the dimensions to output i, a vector in host memory.
Status set_shape_output(KernelContext& context, size_t i, std::span<const int64_t> dims);
/// Allocates the indices [count, rank] of a sparse output.
Result<Tensor*> indices_output(KernelContext& context, size_t i, int64_t count, size_t rank);
/// Allocates a vector.
Result<Tensor*> vector_output(KernelContext& context, size_t i, int64_t count);

}  // namespace troupe
