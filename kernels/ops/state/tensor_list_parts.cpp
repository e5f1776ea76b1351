// Ops that make several elements of lists of tensors (tensor_list_ops.cpp) from one tensor, and one tensor from several elements.
//   TensorListGather(list, indices, element_shape)              the elements along a new first dimension
//   TensorListScatter(tensor, indices, element_shape)           a list whose element indices[i] is row i of the tensor
//   TensorListScatterV2(..., num_elements)                      the same with this size, or if -1 the smallest one
//   TensorListScatterIntoExistingList(list, tensor, indices)    the list with these elements, longer if need be
//   TensorListConcat(list), TensorListConcatV2(list, element_shape, leading_dims)   the elements along their first dimension, and
//                          their lengths in it; that of an element which was never set is leading_dims[i], or the one that
//                          element_shape or all other elements have
//   TensorListSplit(tensor, element_shape, lengths)             a list whose element i is the next lengths[i] rows of the tensor
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/ops/state/tensor_list_gradients.h"
#include "kernels/ops/state/tensor_list_ops.h"

namespace troupe {
namespace {

DType element_dtype(const KernelContext& context) { return context.node().attrs.get<DType>("element_dtype"); }

// ---- from a tensor

Status check_rows(const Tensor& tensor) {
  if (tensor.shape().rank() != 0) return {};
  return invalid_argument("tensor is a scalar; it must have at least one dimension");
}

/// Sets element indices[i] of the list to row i of the tensor. A shorter list grows, unless `fixed`.
Status scatter(TensorList& list, const Tensor& tensor, const Tensor& positions, bool fixed) {
  TROUPE_RETURN_IF_FAILED(check_rows(tensor));
  TROUPE_ASSIGN(const Dims indices, integer_vector(positions, "indices"));
  if (tensor.shape()[0] != static_cast<int64_t>(indices.size()))
    return invalid_argument("there are " + std::to_string(indices.size()) + " indices for tensor of shape " +
                            tensor.shape().text() + "; its first dimension must be their number");
  const int64_t limit = fixed ? static_cast<int64_t>(list.size()) : TensorList::max_elements;
  TROUPE_RETURN_IF_FAILED(check_indices(positions, limit));
  TROUPE_ASSIGN(const Shape row, Shape::make(Dims(tensor.shape().dims()).without(0), tensor.dtype()));
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const Tensor element = tensor.rows(at, at + 1).reshaped(row);
    TROUPE_RETURN_IF_FAILED(list.check(element));
    const auto index = static_cast<size_t>(indices[i]);
    if (index >= list.size()) TROUPE_RETURN_IF_FAILED(list.resize(indices[i] + 1));
    list.set(index, element);
  }
  return {};
}

Status run_scatter(KernelContext& context) {
  TROUPE_ASSIGN(PartialShape shape, element_shape_in(context.input(2)));
  int64_t size = -1;
  if (context.inputs() > 3) {
    TROUPE_ASSIGN(size, integer_scalar(context.input(3), "num_elements"));
  }
  TROUPE_ASSIGN(TensorList* const list, new_list(context, context.input(0).dtype(), std::move(shape)));
  if (size >= 0) TROUPE_RETURN_IF_FAILED(list->resize(size));
  return scatter(*list, context.input(0), context.input(1), size >= 0);
}

Status run_scatter_into(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const from, list_in(context.input(0), element_dtype(context)));
  TROUPE_ASSIGN(TensorList* const list, changed_list(context, *from));
  return scatter(*list, context.input(1), context.input(2), false);
}

Status run_split(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_rows(tensor));
  TROUPE_ASSIGN(PartialShape shape, element_shape_in(context.input(1)));
  TROUPE_ASSIGN(const Dims lengths, integer_vector(context.input(2), "lengths"));
  TROUPE_ASSIGN(TensorList* const list, new_list(context, tensor.dtype(), std::move(shape)));
  const int64_t rows = tensor.shape()[0];
  int64_t begin = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0 || lengths[i] > rows - begin)
      return invalid_argument("lengths[" + std::to_string(i) + "] = " + std::to_string(lengths[i]) +
                              " is not in [0, " + std::to_string(rows - begin) +
                              "], the rows of tensor that are left");
    Tensor element = tensor.rows(begin, begin + lengths[i]);
    TROUPE_RETURN_IF_FAILED(list->check(element));
    list->push(std::move(element));
    begin += lengths[i];
  }
  if (begin == rows) return {};
  return invalid_argument("the sum of lengths is " + std::to_string(begin) + ", but tensor has shape " +
                          tensor.shape().text());
}

// ---- to a tensor

/// What is known of the elements that are concatenated.
struct ConcatShape {
  PartialShape rest;             ///< without the first dimension
  int64_t length = unknown_dim;  ///< of elements that were never set
  Dims leading;                  ///< the same, element by element; may be shorter than the list
};

PartialShape without_first(const PartialShape& shape) {
  if (!shape.known_rank()) return {};
  return PartialShape(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

Result<ConcatShape> requested_shape(const KernelContext& context, const TensorList& list) {
  ConcatShape result;
  PartialShape requested;
  if (context.inputs() > 1) {
    TROUPE_ASSIGN(requested, element_shape_in(context.input(1)));
    TROUPE_ASSIGN(result.leading, integer_vector(context.input(2), "leading_dims"));
  } else {
    requested = context.node().attrs.get<PartialShape>("element_shape");
  }
  TROUPE_ASSIGN(requested, merge(requested, list.element_shape));
  if (requested.has_rank(0))
    return invalid_argument("the elements are scalars; they must have at least one dimension");
  if (requested.known_rank()) result.length = requested[0];
  result.rest = without_first(requested);
  return result;
}

/// Adds what the elements tell. Fails with InvalidArgument if they contradict each other.
Status add_elements(const TensorList& list, ConcatShape& shape) {
  const bool infer = shape.length == unknown_dim;
  bool equal = true;
  int64_t common = unknown_dim;
  for (size_t i = 0; i < list.size(); ++i) {
    const Tensor& element = list.elements[i];
    if (!element.valid()) continue;
    if (element.shape().rank() == 0)
      return invalid_argument("element " + std::to_string(i) +
                              " is a scalar; it must have at least one dimension");
    TROUPE_ASSIGN(shape.rest, merge(shape.rest, without_first(element.shape())));
    const int64_t length = element.shape()[0];
    if (!infer && length != shape.length)
      return invalid_argument("element " + std::to_string(i) + " has shape " + element.shape().text() +
                              ", but the first dimension of element_shape is " +
                              std::to_string(shape.length));
    equal = equal && (common == unknown_dim || common == length);
    common = length;
  }
  if (infer && equal) shape.length = common;
  return {};
}

Result<int64_t> length_of(const TensorList& list, size_t i, const ConcatShape& shape) {
  if (list.elements[i].valid()) return list.elements[i].shape()[0];
  if (i < shape.leading.size()) return shape.leading[i];
  if (shape.length != unknown_dim) return shape.length;
  return invalid_argument("element " + std::to_string(i) + " was never set, and leading_dims has only " +
                          std::to_string(shape.leading.size()) + " elements");
}

// ---- shapes

Status gather_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape indices, context.with_rank(1, 1));
  const Tensor* const requested = context.constant(2);
  if (!requested) return {};
  TROUPE_ASSIGN(const PartialShape element, element_shape_in(*requested));
  context.set_output(0, concatenate(indices, element));
  return {};
}

Status concat_shape(ShapeContext& context) {
  context.set_output(1, PartialShape::vector(unknown_dim));
  return {};
}

// ---- ops

OpDefBuilder list_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder("TensorList" + name).shape(shape);
}

void add_scatters(OpLibrary& library) {
  for (const char* version : {"", "V2"}) {
    OpDefBuilder op = list_op(std::string("Scatter") + version, scalar_shape);
    op.input("tensor: element_dtype").host_input("indices: int32").host_input("element_shape: shape_type");
    if (*version != '\0') op.host_input("num_elements: int32");
    library.op(op.output("output_handle: variant")
                   .attr("element_dtype: type")
                   .attr("shape_type: {int32, int64}")
                   .gradient(list_scatter_gradient));
    library.kernel(host_kernel(std::string("TensorListScatter") + version, run_scatter));
  }
  library.op(list_op("ScatterIntoExistingList", scalar_shape)
                 .input("input_handle: variant")
                 .input("tensor: element_dtype")
                 .host_input("indices: int32")
                 .output("output_handle: variant")
                 .attr("element_dtype: type")
                 .gradient(list_scatter_into_gradient));
  library.kernel(host_kernel("TensorListScatterIntoExistingList", run_scatter_into));
  library.op(list_op("Split", scalar_shape)
                 .input("tensor: element_dtype")
                 .host_input("element_shape: shape_type")
                 .host_input("lengths: int64")
                 .output("output_handle: variant")
                 .attr("element_dtype: type")
                 .attr("shape_type: {int32, int64}")
                 .gradient(list_split_gradient));
  library.kernel(host_kernel("TensorListSplit", run_split));
}

void add_gathers(OpLibrary& library) {
  library.op(list_op("Gather", gather_shape)
                 .input("input_handle: variant")
                 .host_input("indices: int32")
                 .host_input("element_shape: int32")
                 .output("values: element_dtype")
                 .attr("element_dtype: type")
                 .gradient(list_gather_gradient));
  library.kernel(cpu_kernel("TensorListGather", check_list_gather, compute_list_parts));
  library.op(list_op("Concat", concat_shape)
                 .input("input_handle: variant")
                 .output("tensor: element_dtype")
                 .host_output("lengths: int64")
                 .attr("element_dtype: type")
                 .attr("element_shape: shape = ?")
                 .gradient(list_concat_gradient));
  library.op(list_op("ConcatV2", concat_shape)
                 .input("input_handle: variant")
                 .host_input("element_shape: shape_type")
                 .host_input("leading_dims: int64")
                 .output("tensor: element_dtype")
                 .host_output("lengths: int64")
                 .attr("element_dtype: type")
                 .attr("shape_type: {int32, int64}")
                 .gradient(list_concat_gradient));
  for (const char* name : {"TensorListConcat", "TensorListConcatV2"})
    library.kernel(cpu_kernel(name, check_list_concat, compute_list_parts));
}

}  // namespace

Result<ListParts> check_list_gather(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const list, list_in(context.input(0), element_dtype(context)));
  TROUPE_ASSIGN(const Dims indices, integer_vector(context.input(1), "indices"));
  TROUPE_RETURN_IF_FAILED(check_indices(context.input(1), static_cast<int64_t>(list->size())));
  TROUPE_ASSIGN(const PartialShape requested, element_shape_in(context.input(2)));
  TROUPE_ASSIGN(PartialShape shape, merge(requested, list->element_shape));
  for (const int64_t index : indices)
    if (const Tensor& element = list->elements[static_cast<size_t>(index)]; element.valid()) {
      TROUPE_ASSIGN(shape, merge(shape, element.shape()));
    }
  const auto count = static_cast<int64_t>(indices.size());
  TROUPE_ASSIGN(Tensor* const output, stacked_output(context, *list, count, shape));
  ListParts parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(
        {list->elements[static_cast<size_t>(indices[static_cast<size_t>(i)])], output->rows(i, i + 1)});
  return parts;
}

Result<ListParts> check_list_concat(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const list, list_in(context.input(0), element_dtype(context)));
  TROUPE_ASSIGN(ConcatShape shape, requested_shape(context, *list));
  TROUPE_RETURN_IF_FAILED(add_elements(*list, shape));
  if (!shape.rest.fully_known())
    return invalid_argument(
        "no element is set, and the element shape without its first dimension is not fully known: " +
        shape.rest.text());
  TROUPE_ASSIGN(Tensor* const lengths, context.output(1, Shape::vector(static_cast<int64_t>(list->size()))));
  int64_t rows = 0;
  for (size_t i = 0; i < list->size(); ++i) {
    TROUPE_ASSIGN(const int64_t length, length_of(*list, i, shape));
    if (length < 0 || length > INT64_MAX - rows)
      return invalid_argument("element " + std::to_string(i) + " cannot have " + std::to_string(length) +
                              " rows");
    lengths->write<int64_t>()[i] = length;
    rows += length;
  }
  TROUPE_ASSIGN(const Shape rest, shape.rest.to_shape(list->dtype));
  TROUPE_ASSIGN(const Shape whole, Shape::make(Dims(rest.dims()).with(0, rows), list->dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, whole));
  ListParts parts;
  int64_t begin = 0;
  for (size_t i = 0; i < list->size(); ++i) {
    const int64_t end = begin + lengths->as<int64_t>()[i];
    parts.push_back({list->elements[i], output->rows(begin, end)});
    begin = end;
  }
  return parts;
}

void add_tensor_list_parts(OpLibrary& library) {
  add_scatters(library);
  add_gathers(library);
}

}  // namespace troupe
