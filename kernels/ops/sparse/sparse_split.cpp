// SparseSplit(split_dim, indices, values, shape): num_split parts of a sparse tensor, cut along dimension split_dim, in [-rank,
// rank). If the dimension is not a multiple of num_split, the first parts are longer by 1. Positions keep their order. Any
// dtype. Fails with InvalidArgument unless num_split is in [1, dimension], or for a position outside `shape`.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/scratch.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

/// A dimension cut into parts.
struct Parts {
  int64_t count, size,
      longer;  ///< the number of parts; the size of the short parts; how many parts are longer by 1

  int64_t size_of(int64_t part) const { return size + (part < longer ? 1 : 0); }
  int64_t start_of(int64_t part) const { return part * size + std::min(part, longer); }
  int64_t part_of(int64_t index) const {
    if (longer == 0) return index / size;  // `size` may be the greatest integer
    const int64_t in_longer = longer * (size + 1);
    return index < in_longer ? index / (size + 1) : longer + (index - in_longer) / size;
  }
};

struct SparseSplitArguments {
  SparseTensor input;
  size_t axis;
  Parts parts;
  Tensor entries = {};  ///< the numbers of the entries of all parts, one part after the other
  Dims ends = {};       ///< where the entries of each part end
  std::span<Tensor> outputs = {};

  int64_t begin(size_t part) const { return part == 0 ? 0 : ends[part - 1]; }
};

Status sparse_split_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(1)));
  const auto parts = static_cast<size_t>(context.attr<int64_t>("num_split"));
  for (size_t i = 0; i < parts; ++i) {
    context.set_output(i, PartialShape{unknown_dim, indices[1]});
    context.set_output(parts + i, PartialShape{unknown_dim});
    context.set_output(2 * parts + i, PartialShape{indices[1]});
  }
  return {};
}

Result<SparseSplitArguments> check_sparse_split(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_rank(context, 0, 0));
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(1)));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(context.input(0).item<int64_t>(), input.rank()));
  const auto parts = context.node().attrs.get<int64_t>("num_split");
  const int64_t dim = input.dims[axis];
  if (parts < 1 || parts > dim)
    return invalid_argument("num_split is " + std::to_string(parts) + ", dimension " + std::to_string(axis) +
                            " of shape " + text_of(input.dims) + " is " + std::to_string(dim) +
                            "; num_split must be in [1, dimension]");
  return SparseSplitArguments{std::move(input), axis, Parts{parts, dim / parts, dim % parts}};
}

/// Finds the entries of each part.
Status measure_sparse_split(SparseSplitArguments& arguments, DeviceContext& device) {
  const SparseTensor& input = arguments.input;
  Dims strides(input.rank());
  strides[arguments.axis] = 1;
  TROUPE_ASSIGN(const Tensor indices, offsets_of(device, input, strides));
  TROUPE_ASSIGN(arguments.entries, scratch_vector<int64_t>(device, indices.elements()));
  Dims& ends = arguments.ends = Dims(static_cast<size_t>(arguments.parts.count));
  const auto part_of = [&](int64_t index) { return static_cast<size_t>(arguments.parts.part_of(index)); };
  const auto all = indices.as<int64_t>();
  for (const int64_t index : all) ++ends[part_of(index)];
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), int64_t{0});
  int64_t* const entries = arguments.entries.write<int64_t>().data();
  for (size_t i = 0; i < all.size(); ++i) entries[ends[part_of(all[i])]++] = static_cast<int64_t>(i);
  return {};
}

Status allocate_sparse_split(SparseSplitArguments& arguments, KernelContext& context) {
  const auto parts = static_cast<size_t>(arguments.parts.count);
  for (size_t i = 0; i < parts; ++i) {
    const int64_t count = arguments.ends[i] - arguments.begin(i);
    TROUPE_RETURN_IF_FAILED(indices_output(context, i, count, arguments.input.rank()).status());
    TROUPE_RETURN_IF_FAILED(vector_output(context, parts + i, count).status());
    Dims dims = arguments.input.dims;
    dims[arguments.axis] = arguments.parts.size_of(static_cast<int64_t>(i));
    TROUPE_RETURN_IF_FAILED(set_shape_output(context, 2 * parts + i, dims));
  }
  arguments.outputs = context.outputs();
  return {};
}

void compute_sparse_split(const SparseSplitArguments& arguments, DeviceContext& device) {
  const SparseTensor& input = arguments.input;
  const auto parts = static_cast<size_t>(arguments.parts.count);
  const auto entries = arguments.entries.as<int64_t>();
  for (size_t i = 0; i < parts; ++i) {
    Dims start(input.rank());
    start[arguments.axis] = arguments.parts.start_of(static_cast<int64_t>(i));
    const auto begin = static_cast<size_t>(arguments.begin(i)), end = static_cast<size_t>(arguments.ends[i]);
    take_entries(device.pool(), input.indices, input.values, entries.subspan(begin, end - begin),
                 arguments.outputs[i], arguments.outputs[parts + i], start);
  }
}

}  // namespace

void add_sparse_split(OpLibrary& library) {
  library.op(OpDefBuilder("SparseSplit")
                 .host_input("split_dim: int64")
                 .input("indices: int64")
                 .input("values: T")
                 .host_input("shape: int64")
                 .output("output_indices: num_split * int64")
                 .output("output_values: num_split * T")
                 .host_output("output_shape: num_split * int64")
                 .attr("num_split: int >= 1")
                 .attr("T: type")
                 .shape(sparse_split_shape));
  library.kernel(measured_cpu_kernel("SparseSplit", check_sparse_split, measure_sparse_split,
                                     allocate_sparse_split, compute_sparse_split));
}

}  // namespace troupe
