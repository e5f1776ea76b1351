// Strings joined with a separator between them.
//   StringJoin(inputs)                    element by element; a scalar is joined with every element of the others
//   ReduceJoin(inputs, reduction_indices) along axes: the first axis of the list changes fastest. No axes: nothing is joined.
//   UnsortedSegmentJoin(inputs, segment_ids, num_segments)
//                                         the rows whose id is k, in their order. As in TensorFlow there is no separator before
//                                         the first string that is not empty. InvalidArgument for an id outside [0, num_segments).
#include <array>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/math/unsorted_segments.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

// ---- StringJoin

Status different_shapes(const std::string& a, const std::string& b) {
  return invalid_argument("inputs of shapes " + a + " and " + b + " differ, and neither is a scalar");
}

Status string_join_shape(ShapeContext& context) {
  PartialShape output = PartialShape::scalar();
  bool is_known = true;  // no input is of unknown rank, which may be a scalar
  for (size_t i = 0; i < context.inputs(); ++i) {
    const PartialShape& input = context.input(i);
    is_known &= input.known_rank();
    if (!input.known_rank() || input.has_rank(0)) continue;
    const auto merged = output.has_rank(0) ? Result<PartialShape>(input) : merge(output, input);
    if (!merged) return different_shapes(output.text(), input.text());
    output = *merged;
  }
  if (is_known || !output.has_rank(0)) context.set_output(0, output);
  return {};
}

struct JoinArguments {
  std::span<const Slot> inputs;
  Tensor& output;
  const std::string& separator;
};

Result<JoinArguments> check_string_join(KernelContext& context) {
  const auto inputs = context.input_slots(0, context.inputs());
  Shape shape;
  for (const Slot& input : inputs) {
    const Shape& other = input.tensor.shape();
    if (other.is_scalar()) continue;
    if (!shape.is_scalar() && !(shape == other)) return different_shapes(shape.text(), other.text());
    shape = other;
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return JoinArguments{inputs, *output, context.node().attrs.get<std::string>("separator")};
}

/// Sets `to` to the strings part(0) to part(n - 1), joined.
template <class Part>
void join(size_t n, const Part& part, std::string_view separator, std::string& to) {
  size_t size = n == 0 ? 0 : (n - 1) * separator.size();
  for (size_t k = 0; k < n; ++k) size += part(k).size();
  to.reserve(size);
  for (size_t k = 0; k < n; ++k) {
    if (k != 0) to += separator;
    to += part(k);
  }
}

void compute_string_join(const JoinArguments& arguments, DeviceContext& device) {
  const auto inputs = arguments.inputs;
  const auto output = arguments.output.write<std::string>();
  for_each_element(device.pool(), output.size(), string_cost * (inputs.size() + 1), [&](size_t i) {
    const auto part = [&](size_t k) -> const std::string& {
      const auto input = inputs[k].tensor.as<std::string>();
      return input[inputs[k].tensor.shape().is_scalar() ? 0 : i];
    };
    join(inputs.size(), part, arguments.separator, output[i]);
  });
}

// ---- ReduceJoin

/// Axes in the order in which they are listed, and the shape after joining.
struct JoinedAxes {
  ShortList<size_t> axes;
  Dims output;
};

Result<JoinedAxes> joined_axes(std::span<const int64_t> dims, std::span<const int64_t> axes, bool keeps) {
  JoinedAxes result;
  ShortList<uint8_t> is_joined(dims.size());
  for (const int64_t listed : axes) {
    TROUPE_ASSIGN(const size_t axis, resolve_axis(listed, dims.size()));
    if (is_joined[axis])
      return invalid_argument("reduction_indices " + text_of(axes) + " has axis " + std::to_string(axis) +
                              " twice");
    is_joined[axis] = 1;
    result.axes.push_back(axis);
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!is_joined[d]) result.output.push_back(dims[d]);
    if (is_joined[d] && keeps) result.output.push_back(1);
  }
  return result;
}

Status reduce_join_shape(ShapeContext& context) {
  const bool keeps = context.attr<bool>("keep_dims");
  const PartialShape& input = context.input(0);
  const auto axes = context.constant_integers(1);
  if (!input.known_rank()) return {};
  if (axes) {
    TROUPE_ASSIGN(const JoinedAxes joined, joined_axes(input.dims(), *axes, keeps));
    context.set_output(0, partial(joined.output));
  } else if (keeps) {
    context.set_output(0, PartialShape::of_rank(input.rank()));
  }
  return {};
}

struct ReduceJoinArguments {
  const Tensor& input;
  ShortList<size_t> axes;
  Tensor& output;
  const std::string& separator;
};

Result<ReduceJoinArguments> check_reduce_join(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto& attrs = context.node().attrs;
  TROUPE_ASSIGN(JoinedAxes joined,
                joined_axes(input.shape().dims(), integers(context.input(1)), attrs.get<bool>("keep_dims")));
  TROUPE_ASSIGN(const Shape shape, Shape::make(joined.output, DType::String));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ReduceJoinArguments{input, std::move(joined.axes), *output, attrs.get<std::string>("separator")};
}

/// Axes of a tensor, the one that changes fastest first, and where their elements lie.
class AxisOffsets {
 public:
  void add(int64_t size, int64_t stride) {
    sizes_.push_back(size);
    strides_.push_back(stride);
  }
  size_t count() const { return count_of(sizes_); }
  size_t operator[](size_t number) const {
    size_t offset = 0;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      offset += number % static_cast<size_t>(sizes_[d]) * static_cast<size_t>(strides_[d]);
      number /= static_cast<size_t>(sizes_[d]);
    }
    return offset;
  }

 private:
  Dims sizes_, strides_;
};

void compute_reduce_join(const ReduceJoinArguments& arguments, DeviceContext& device) {
  const auto input = arguments.input.as<std::string>();
  if (input.empty()) return;  // all strings of the output are empty, as they were made
  const auto dims = arguments.input.shape().dims();
  const Dims strides = strides_of(dims);
  AxisOffsets joined, others;
  for (const size_t axis : arguments.axes) joined.add(dims[axis], strides[axis]);
  for (size_t d = dims.size(); d-- > 0;)
    if (std::ranges::find(arguments.axes, d) == arguments.axes.end()) others.add(dims[d], strides[d]);
  const size_t count = joined.count();
  const auto output = arguments.output.write<std::string>();
  parallel_rows(device.pool(), output.size(), string_cost * (count + 1), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto first = input.subspan(others[i]);
      join(
          count, [&](size_t k) -> const std::string& { return first[joined[k]]; }, arguments.separator,
          output[i]);
    }
  });
}

// ---- UnsortedSegmentJoin

Status check_ids_are_no_scalar(bool is_scalar) {
  return is_scalar ? invalid_argument("segment_ids of shape [] is a scalar, expected rank 1 or more")
                   : ok_status();
}

Status segment_join_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_ids_are_no_scalar(context.input(1).has_rank(0)));
  return unsorted_segments_shape(context);
}

struct SegmentJoinArguments {
  UnsortedSegmentsArguments segments;
  const std::string& separator;
};

Result<SegmentJoinArguments> check_segment_join(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_ids_are_no_scalar(context.input(1).shape().is_scalar()));
  TROUPE_ASSIGN(const UnsortedSegmentsArguments segments, check_unsorted_segments(context));
  return SegmentJoinArguments{segments, context.node().attrs.get<std::string>("separator")};
}

Status compute_segment_join(const SegmentJoinArguments& arguments, DeviceContext& device) {
  const auto& [data, ids, output, row] = arguments.segments;
  TROUPE_RETURN_IF_FAILED(check_indices(ids, output.shape()[0], "segment_ids"));
  const Dims rows = integers(ids);
  const auto from = data.as<std::string>();
  const auto to = output.write<std::string>();
  change_rows(device.pool(), rows, string_cost * row, [&, size = row](size_t i) {
    const auto first = static_cast<size_t>(rows[i]) * size;
    for (size_t k = 0; k < size; ++k) {
      std::string& joined = to[first + k];
      if (!joined.empty()) joined += arguments.separator;
      joined += from[i * size + k];
    }
  });
  return {};
}

}  // namespace

void add_string_joins(OpLibrary& library) {
  library.op(OpDefBuilder("StringJoin")
                 .input("inputs: N * string")
                 .output("output: string")
                 .attr("N: int >= 0")
                 .attr("separator: string = ''")
                 .constructor("string_join(inputs, separator)")
                 .shape(string_join_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("StringJoin", check_string_join, compute_string_join));
  library.op(OpDefBuilder("ReduceJoin")
                 .input("inputs: string")
                 .host_input("reduction_indices: int32")
                 .output("output: string")
                 .attr("keep_dims: bool = false")
                 .attr("separator: string = ''")
                 .constructor("reduce_join(inputs, axis: reduction_indices = all, keep_dims, separator)")
                 .shape(reduce_join_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("ReduceJoin", check_reduce_join, compute_reduce_join));
  library.op(OpDefBuilder("UnsortedSegmentJoin")
                 .input("inputs: string")
                 .input("segment_ids: Tindices")
                 .host_input("num_segments: Tnumsegments")
                 .output("output: string")
                 .attr("separator: string = ''")
                 .attr("Tindices: {int32, int64}")
                 .attr("Tnumsegments: {int32, int64} = int32")
                 .constructor("unsorted_segment_join(inputs, segment_ids, num_segments, separator)")
                 .shape(segment_join_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("UnsortedSegmentJoin", check_segment_join, compute_segment_join));
}

}  // namespace troupe
