// ReverseSequence(input, seq_lengths): of each entry b of dimension batch_dim, the first seq_lengths[b] elements along dimension
// seq_dim in reversed order, the others as they are. Negative dimensions count from the end. InvalidArgument for a length outside
// [0, input.shape[seq_dim]].
#include "kernels/ops/array/reverse_sequence.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

Result<SequenceAxes> sequence_axes(const Node& node, size_t rank) {
  SequenceAxes axes{};
  TROUPE_ASSIGN(axes.sequence, resolve_axis(node.attrs.get<int64_t>("seq_dim"), rank));
  TROUPE_ASSIGN(axes.batch, resolve_axis(node.attrs.get<int64_t>("batch_dim"), rank));
  if (axes.sequence == axes.batch)
    return invalid_argument("seq_dim and batch_dim are both dimension " + std::to_string(axes.batch));
  return axes;
}

Status reverse_sequence_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto lengths, context.with_rank(1, 1));
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  TROUPE_ASSIGN(const SequenceAxes axes, sequence_axes(context.node(), input.rank()));
  TROUPE_ASSIGN(const auto entries, merge(lengths, PartialShape::vector(input[axes.batch])));
  Dims dims(input.dims());
  dims[axes.batch] = entries[0];
  context.set_output(0, partial(dims));
  return {};
}

Status check_lengths(const Tensor& tensor, const Dims& lengths, int64_t most) {
  const auto found =
      std::ranges::find_if(lengths, [&](int64_t length) { return length < 0 || length > most; });
  if (found == lengths.end()) return {};
  return invalid_argument(element_name("seq_lengths", tensor.shape(), found - lengths.begin()) + " = " +
                          std::to_string(*found) + " is not in [0, " + std::to_string(most) + "]");
}

/// A dimension in a walk over the rows of a tensor: row i has the index i / step % size in it.
struct RowAxis {
  size_t step, size;
  size_t index_of(size_t row) const { return row / step % size; }
};

/// Rows of `inner` elements.
template <class T>
void reverse(Pool& pool, const ReverseSequenceArguments& arguments, const Dims& lengths) {
  const auto dims = arguments.input.shape().dims();
  const size_t last = std::max(arguments.axes.sequence, arguments.axes.batch);
  const size_t inner = count_of(dims.subspan(last + 1));
  const auto row_axis = [&](size_t axis) {
    return RowAxis{count_of(dims.subspan(axis + 1)) / inner, static_cast<size_t>(dims[axis])};
  };
  const RowAxis sequence = row_axis(arguments.axes.sequence), batch = row_axis(arguments.axes.batch);
  const T* const from = reinterpret_cast<const T*>(arguments.input.data());
  T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
  const size_t rows = static_cast<size_t>(arguments.input.elements()) / inner;
  parallel_rows(pool, rows, 2 * inner * sizeof(T), [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const size_t at = sequence.index_of(row), length = static_cast<size_t>(lengths[batch.index_of(row)]);
      const size_t source = at < length ? row + (length - 1 - at) * sequence.step - at * sequence.step : row;
      if (inner == 1)
        to[row] = from[source];
      else
        std::copy_n(from + source * inner, inner, to + row * inner);
    }
  });
}

Status compute_reverse_sequence(const ReverseSequenceArguments& arguments, DeviceContext& device) {
  const Dims lengths = integers(arguments.lengths);
  TROUPE_RETURN_IF_FAILED(
      check_lengths(arguments.lengths, lengths, arguments.input.shape()[arguments.axes.sequence]));
  if (arguments.input.elements() == 0) return {};
  with_storage(arguments.input.dtype(),
               [&]<class T>(std::type_identity<T>) { reverse<T>(device.pool(), arguments, lengths); });
  return {};
}

void reverse_sequence_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("ReverseSequence", {context.gradient(), context.input(1)},
                                         {{"seq_dim", context.attr<int64_t>("seq_dim")},
                                          {"batch_dim", context.attr<int64_t>("batch_dim")}}));
}

}  // namespace

Result<ReverseSequenceArguments> check_reverse_sequence(KernelContext& context) {
  const Tensor &input = context.input(0), &lengths = context.input(1);
  TROUPE_ASSIGN(const SequenceAxes axes, sequence_axes(context.node(), input.shape().rank()));
  if (lengths.shape().rank() != 1 || lengths.shape()[0] != input.shape()[axes.batch])
    return invalid_argument("seq_lengths of shape " + lengths.shape().text() + " for dimension " +
                            std::to_string(axes.batch) + " of input of shape " + input.shape().text());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return ReverseSequenceArguments{input, lengths, *output, axes};
}

void add_reverse_sequence(OpLibrary& library) {
  library.op(OpDefBuilder("ReverseSequence")
                 .input("input: T")
                 .input("seq_lengths: Tlen")
                 .output("output: T")
                 .attr("seq_dim: int")
                 .attr("batch_dim: int = 0")
                 .attr("T: type")
                 .attr("Tlen: {int32, int64} = int64")
                 .constructor("reverse_sequence(input, seq_lengths, seq_dim, batch_dim)")
                 .shape(reverse_sequence_shape)
                 .gradient(reverse_sequence_gradient));
  library.kernel(cpu_kernel("ReverseSequence", check_reverse_sequence, compute_reverse_sequence));
}

}  // namespace troupe
