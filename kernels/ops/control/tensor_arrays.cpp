// Arrays of tensors that loops write and read by index (features.md F15; kernels/core/tensor_array.h). Each op that changes an
// array takes a scalar `flow_in` and returns `flow_out`, which order the ops; its value has no meaning.
//   TensorArrayV3(size)                                 a new array of `size` elements of `dtype`
//   TensorArrayWriteV3(handle, index, value, flow_in)   writes an element that was not written before
//   TensorArrayReadV3(handle, index, flow_in)           an element; zeros if it was never written and its shape is known
//   TensorArrayScatterV3(handle, indices, value, flow_in)   writes row i of value to element indices[i]
//   TensorArrayGatherV3(handle, indices, flow_in)       the elements along a new first dimension
//   TensorArraySplitV3(handle, value, lengths, flow_in)     writes lengths[i] rows of value to element i
//   TensorArrayConcatV3(handle, flow_in)                all elements along their first dimension, and their lengths in it
//   TensorArraySizeV3(handle, flow_in), TensorArrayCloseV3(handle)
//   TensorArrayGradV3(handle, flow_in)                  the gradient array named `source`, made at the first call
//   TensorArrayGradWithShape(handle, flow_in, shape_to_prepend)   the same with elements of larger rank
// The versions without suffix and V2 have no flow from the ops that make an array. TensorArrayPack and TensorArrayUnpack are Gather
// and Scatter of all elements.
// With `dynamic_size` a write may add elements; with `clear_after_read` an element can be read once; with
// `identical_element_shapes` the first element determines the shape of all. Values written to the same element of a gradient array
// are summed, in the order of the nodes that wrote them. All failures are InvalidArgument unless said otherwise.
#include "kernels/ops/control/tensor_arrays.h"

#include <numeric>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/loops/sum.h"
#include "kernels/ops/control/tensor_array_gradients.h"

namespace troupe {
namespace {

using ArrayPointer = std::shared_ptr<TensorArray>;

Result<ArrayPointer> array_in(const KernelContext& context) {
  return object_of<TensorArray>(context, 0, "TensorArray");
}

/// Returns the array of an op that reads elements of `dtype`.
Result<ArrayPointer> array_to_read(const KernelContext& context) {
  TROUPE_ASSIGN(ArrayPointer array, array_in(context));
  const DType dtype = context.node().output_types[0].dtype;
  if (array->dtype() != dtype)
    return invalid_argument("the TensorArray's dtype is " + std::string(name(array->dtype())) +
                            ", but the node's dtype is " + std::string(name(dtype)));
  return array;
}

/// Passes the flow of an input on as output 0.
Status output_flow(KernelContext& context, size_t input) {
  context.set_output(0, context.input(input));
  return {};
}

TensorArray::WriterKey writer(const KernelContext& context) {
  return {context.node().id, context.frame_key()};
}

/// Returns 0 to count - 1.
Result<Dims> first_indices(int64_t count) {
  Dims indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

// ---- make

void clear_flow(const ArrayFlow& made, DeviceContext&) {
  if (made.flow) made.flow->write<float>()[0] = 0;
}

Status run_gradient(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_in(context));
  Shape prefix;
  if (context.inputs() > 2) {
    TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(2), "shape_to_prepend"));
    TROUPE_ASSIGN(prefix, Shape::make(dims, array->dtype()));
  }
  TROUPE_ASSIGN(ArrayPointer gradient,
                array->gradient(context.node().attrs.get<std::string>("source"), prefix));
  TROUPE_RETURN_IF_FAILED(output_handle(context, 0, std::move(gradient)));
  if (context.outputs().size() > 1) context.set_output(1, context.input(1));
  return {};
}

Status run_size(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_in(context));
  TROUPE_ASSIGN(const int64_t size, array->size());
  context.set_output(0, Tensor::scalar(static_cast<int32_t>(size)));
  return {};
}

Status run_close(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_in(context));
  array->close();
  return {};
}

// ---- write

Status run_write(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_in(context));
  TROUPE_ASSIGN(const int64_t index, integer_scalar(context.input(1), "index"));
  TROUPE_RETURN_IF_FAILED(array->write(index, context.input(2), writer(context)));
  return output_flow(context, context.inputs() - 1);
}

/// Returns rows [begin, end) of a tensor, in a shape.
Tensor rows_as(const Tensor& tensor, int64_t begin, int64_t end, const Shape& shape) {
  return tensor.rows(begin, end).reshaped(shape);
}

Status run_scatter(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_in(context));
  const bool all = context.inputs() == 3;
  const Tensor& value = context.input(all ? 1 : 2);
  if (value.shape().rank() == 0)
    return invalid_argument("value is a scalar; it must have at least one dimension");
  if (all) TROUPE_RETURN_IF_FAILED(array->begin_parts(value.shape()[0]));
  TROUPE_ASSIGN(const Dims indices,
                all ? first_indices(value.shape()[0]) : integer_vector(context.input(1), "indices"));
  if (value.shape()[0] != static_cast<int64_t>(indices.size()))
    return invalid_argument("there are " + std::to_string(indices.size()) + " indices for value of shape " +
                            value.shape().text() + "; its first dimension must be their number");
  TROUPE_ASSIGN(const Shape row, Shape::make(Dims(value.shape().dims()).without(0), value.dtype()));
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    TROUPE_RETURN_IF_FAILED(array->write(indices[i], rows_as(value, at, at + 1, row), writer(context)));
  }
  return output_flow(context, context.inputs() - 1);
}

Status run_split(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_in(context));
  const Tensor& value = context.input(1);
  TROUPE_ASSIGN(const Dims lengths, integer_vector(context.input(2), "lengths"));
  if (value.shape().rank() == 0)
    return invalid_argument("value is a scalar; it must have at least one dimension");
  TROUPE_RETURN_IF_FAILED(array->begin_parts(static_cast<int64_t>(lengths.size())));
  const int64_t rows = value.shape()[0];
  int64_t begin = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0 || lengths[i] > rows - begin)
      return invalid_argument("lengths[" + std::to_string(i) + "] = " + std::to_string(lengths[i]) +
                              " is not in [0, " + std::to_string(rows - begin) +
                              "], the rows of value that are left");
    TROUPE_ASSIGN(const Shape shape,
                  Shape::make(Dims(value.shape().dims()).without(0).with(0, lengths[i]), value.dtype()));
    TROUPE_RETURN_IF_FAILED(array->write(static_cast<int64_t>(i),
                                         rows_as(value, begin, begin + lengths[i], shape), writer(context)));
    begin += lengths[i];
  }
  if (begin != rows)
    return invalid_argument("the sum of lengths is " + std::to_string(begin) + ", but value has shape " +
                            value.shape().text());
  return output_flow(context, context.inputs() - 1);
}

// ---- read

void compute_part(const ElementPart& part, DeviceContext& device) {
  Tensor output = part.output;
  const auto& terms = part.element.terms;
  if (terms.empty()) {
    if (is_plain(output.dtype())) fill(device.pool(), output);
    return;
  }
  if (terms.size() == 1) {
    const Dims dims(1, output.elements());
    const Layout layout{0, strides_of(dims)};
    return strided_copy(device.pool(), dims, terms[0], layout, output, layout);
  }
  std::vector<const std::byte*> data;
  for (const Tensor& term : terms) data.push_back(term.data());
  Sum(output.dtype()).add(device.pool(), data, output);
}

void compute_parts(const ElementParts& parts, DeviceContext& device) {
  for (const ElementPart& part : parts)
    if (part.output.elements() != 0) compute_part(part, device);
}

Result<Shape> empty_shape(const PartialShape& shape, DType dtype, std::string_view attribute) {
  if (shape.fully_known()) return shape.to_shape(dtype);
  return unimplemented("there are no elements to read, and " + std::string(attribute) +
                       " is not fully known: " + shape.text());
}

using Elements = std::vector<TensorArray::Element>;

Result<Elements> read_all(TensorArray& array, std::span<const int64_t> indices) {
  Elements elements;
  for (const int64_t index : indices) {
    TROUPE_ASSIGN(auto element, array.read(index));
    elements.push_back(std::move(element));
  }
  return elements;
}

/// Returns the parts of an output whose first dimension is made of that of the elements, `rows(element)` each.
template <class Rows>
ElementParts parts_of(Elements elements, const Tensor& output, const Rows& rows) {
  ElementParts parts;
  int64_t begin = 0;
  for (auto& element : elements) {
    const int64_t end = begin + rows(element.shape);
    parts.push_back({std::move(element), output.rows(begin, end)});
    begin = end;
  }
  return parts;
}

Status differ(const TensorArray::Element& first, size_t i, const TensorArray::Element& other) {
  return invalid_argument("element 0 has shape " + first.shape.text() + ", but element " + std::to_string(i) +
                          " has shape " + other.shape.text());
}

}  // namespace

Result<ArrayFlow> check_array_make(KernelContext& context) {
  TROUPE_ASSIGN(const int64_t size, integer_scalar(context.input(0), "size"));
  const Attributes& attrs = context.node().attrs;
  const AttrValue* const equal = attrs.find("identical_element_shapes");
  TROUPE_ASSIGN(ArrayPointer array,
                TensorArray::make({.dtype = attrs.get<DType>("dtype"),
                                   .element_shape = attrs.get<PartialShape>("element_shape"),
                                   .may_grow = attrs.get<bool>("dynamic_size"),
                                   .read_once = attrs.get<bool>("clear_after_read"),
                                   .equal_shapes = equal && std::get<bool>(*equal)},
                                  size));
  TROUPE_RETURN_IF_FAILED(output_handle(context, 0, std::move(array)));
  if (context.outputs().size() == 1) return ArrayFlow{nullptr};
  TROUPE_ASSIGN(Tensor* const flow, context.output(1, Shape{}));
  return ArrayFlow{flow};
}

Result<ElementParts> check_array_read(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_to_read(context));
  TROUPE_ASSIGN(const int64_t index, integer_scalar(context.input(1), "index"));
  TROUPE_ASSIGN(auto element, array->read(index));
  if (element.terms.size() == 1) {
    context.set_output(0, std::move(element.terms[0]));
    return ElementParts();
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, element.shape));
  ElementParts parts;
  parts.push_back({std::move(element), *output});
  return parts;
}

Result<ElementParts> check_array_gather(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_to_read(context));
  const bool all = context.inputs() == 2;
  TROUPE_ASSIGN(const int64_t parts, array->parts());
  TROUPE_ASSIGN(const Dims indices, all ? first_indices(parts) : integer_vector(context.input(1), "indices"));
  const auto& requested = context.node().attrs.get<PartialShape>("element_shape");
  TROUPE_RETURN_IF_FAILED(array->refine(requested));
  TROUPE_ASSIGN(Elements elements, read_all(*array, indices));
  Shape shape;
  if (elements.empty()) {
    TROUPE_ASSIGN(shape, empty_shape(requested, array->dtype(), "element_shape"));
  } else {
    shape = elements[0].shape;
  }
  for (size_t i = 1; i < elements.size(); ++i)
    if (elements[i].shape != shape) return differ(elements[0], i, elements[i]);
  const auto count = static_cast<int64_t>(elements.size());
  TROUPE_ASSIGN(const Shape whole, Shape::make(Dims(shape.dims()).with(0, count), array->dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, whole));
  return parts_of(std::move(elements), *output, [](const Shape&) { return 1; });
}

Result<ElementParts> check_array_concat(KernelContext& context) {
  TROUPE_ASSIGN(const ArrayPointer array, array_to_read(context));
  TROUPE_ASSIGN(const int64_t size, array->parts());
  TROUPE_ASSIGN(const Dims indices, first_indices(size));
  TROUPE_ASSIGN(Elements elements, read_all(*array, indices));
  TROUPE_ASSIGN(Tensor* const lengths, context.output(1, Shape::vector(size)));
  const auto& requested = context.node().attrs.get<PartialShape>("element_shape_except0");
  Shape rest;
  if (elements.empty()) {
    TROUPE_ASSIGN(rest, empty_shape(requested, array->dtype(), "element_shape_except0"));
  }
  int64_t rows = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Shape& shape = elements[i].shape;
    if (shape.rank() == 0)
      return invalid_argument("element " + std::to_string(i) +
                              " is a scalar; it must have at least one dimension");
    TROUPE_ASSIGN(const Shape row, Shape::make(Dims(shape.dims()).without(0), array->dtype()));
    if (i == 0) rest = row;
    if (row != rest) return differ(elements[0], i, elements[i]);
    lengths->write<int64_t>()[i] = shape[0];
    rows += shape[0];
  }
  if (!requested.compatible_with(rest))
    return invalid_argument("the elements without their first dimension have shape " + rest.text() +
                            ", but element_shape_except0 is " + requested.text());
  TROUPE_ASSIGN(const Shape whole, Shape::make(Dims(rest.dims()).with(0, rows), array->dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, whole));
  return parts_of(std::move(elements), *output, [](const Shape& shape) { return shape[0]; });
}

namespace {

// ---- shapes

/// The handle keeps the shape of an element, as that of a variable keeps the shape of its value.
Status make_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  const auto& shape = context.attr<PartialShape>("element_shape");
  const AttrValue* const equal = context.node().attrs.find("identical_element_shapes");
  if (shape.fully_known() || (equal && std::get<bool>(*equal))) context.set_output(0, shape);
  if (context.node().output_types.size() > 1) context.set_output(1, PartialShape::scalar());
  return {};
}

Status gradient_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  if (context.inputs() == 2) context.set_output(0, context.input(0));
  if (context.node().output_types.size() > 1) context.set_output(1, PartialShape::scalar());
  return {};
}

/// Checks that the last input, flow_in, is a scalar.
Status check_flow(const ShapeContext& context) { return context.with_rank(context.inputs() - 1, 0).status(); }

Status flow_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_flow(context));
  return scalar_shape(context);
}

Status write_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  return flow_shape(context);
}

Status scatter_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  return flow_shape(context);
}

Status split_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 1).status());
  return flow_shape(context);
}

Status read_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  TROUPE_RETURN_IF_FAILED(check_flow(context));
  context.set_output(0, context.input(0));
  return {};
}

Status gather_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape indices, context.with_rank(1, 1));
  TROUPE_RETURN_IF_FAILED(check_flow(context));
  TROUPE_ASSIGN(const PartialShape element,
                merge(context.input(0), context.attr<PartialShape>("element_shape")));
  context.set_output(0, concatenate(indices, element));
  return {};
}

Status pack_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_flow(context));
  TROUPE_ASSIGN(const PartialShape element,
                merge(context.input(0), context.attr<PartialShape>("element_shape")));
  context.set_output(0, concatenate(PartialShape::vector(unknown_dim), element));
  return {};
}

Status concat_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_flow(context));
  context.set_output(
      0, concatenate(PartialShape::vector(unknown_dim), context.attr<PartialShape>("element_shape_except0")));
  context.set_output(1, PartialShape::vector(unknown_dim));
  return {};
}

// ---- ops

/// Begins the definition of an op on the array `handle`.
OpDefBuilder array_op(const ArrayVersion& version, std::string_view verb, ShapeFunction shape) {
  return OpDefBuilder(version.op(verb)).effect(Effect::Step).input("handle: resource").shape(shape);
}

void add_maker(OpLibrary& library, const ArrayVersion& version) {
  OpDefBuilder op(version.op(""));
  op.effect(Effect::Step).host_input("size: int32").output("handle: resource");
  if (version.yields_flow) op.output("flow: float");
  op.attr("dtype: type")
      .attr("element_shape: shape = ?")
      .attr("dynamic_size: bool = false")
      .attr("clear_after_read: bool = true");
  if (version.yields_flow) op.attr("identical_element_shapes: bool = false");
  library.op(op.attr("tensor_array_name: string = ''").shape(make_shape).not_differentiable());
}

/// Begins the definition of an op that makes gradient arrays.
OpDefBuilder gradient_op(std::string name, const ArrayVersion& version) {
  OpDefBuilder op(std::move(name));
  op.effect(Effect::Step).shape(gradient_shape).attr("source: string");
  op.input("handle: resource").input("flow_in: float");
  op.output("grad_handle: resource");
  if (version.yields_flow) op.output("flow_out: float");
  return op;
}

void add_writes(OpLibrary& library, const ArrayVersion& version) {
  library.op(array_op(version, "Write", write_shape)
                 .host_input("index: int32")
                 .input("value: T")
                 .input("flow_in: float")
                 .output("flow_out: float")
                 .attr("T: type")
                 .gradient(array_write_gradient));
  library.op(array_op(version, "Scatter", scatter_shape)
                 .host_input("indices: int32")
                 .input("value: T")
                 .input("flow_in: float")
                 .output("flow_out: float")
                 .attr("T: type")
                 .gradient(array_scatter_gradient));
  library.op(array_op(version, "Split", split_shape)
                 .input("value: T")
                 .host_input("lengths: int64")
                 .input("flow_in: float")
                 .output("flow_out: float")
                 .attr("T: type")
                 .gradient(array_split_gradient));
}

void add_reads(OpLibrary& library, const ArrayVersion& version) {
  library.op(array_op(version, "Read", read_shape)
                 .host_input("index: int32")
                 .input("flow_in: float")
                 .output("value: dtype")
                 .attr("dtype: type")
                 .gradient(array_read_gradient));
  library.op(array_op(version, "Gather", gather_shape)
                 .host_input("indices: int32")
                 .input("flow_in: float")
                 .output("value: dtype")
                 .attr("dtype: type")
                 .attr("element_shape: shape = ?")
                 .gradient(array_gather_gradient));
  library.op(array_op(version, "Concat", concat_shape)
                 .input("flow_in: float")
                 .output("value: dtype")
                 .host_output("lengths: int64")
                 .attr("dtype: type")
                 .attr("element_shape_except0: shape = ?")
                 .gradient(array_concat_gradient));
  library.op(array_op(version, "Size", flow_shape)
                 .input("flow_in: float")
                 .host_output("size: int32")
                 .not_differentiable());
  library.op(array_op(version, "Close", no_output_shape));
}

/// Adds the former ops on all elements.
void add_pack_ops(OpLibrary& library, const ArrayVersion& version) {
  library.op(array_op(version, "Pack", pack_shape)
                 .input("flow_in: float")
                 .output("value: dtype")
                 .attr("dtype: type")
                 .attr("element_shape: shape = ?")
                 .gradient(array_pack_gradient));
  library.op(array_op(version, "Unpack", flow_shape)
                 .input("value: T")
                 .input("flow_in: float")
                 .output("flow_out: float")
                 .attr("T: type")
                 .gradient(array_unpack_gradient));
  library.kernel(cpu_kernel(version.op("Pack"), check_array_gather, compute_parts));
  library.kernel(host_kernel(version.op("Unpack"), run_scatter));
}

void add_kernels(OpLibrary& library, const ArrayVersion& version) {
  library.kernel(cpu_kernel(version.op(""), check_array_make, clear_flow).any_type().inexpensive());
  library.kernel(host_kernel(version.op("Grad"), run_gradient).inexpensive());
  library.kernel(host_kernel(version.op("Size"), run_size).inexpensive());
  library.kernel(host_kernel(version.op("Close"), run_close).inexpensive());
  library.kernel(host_kernel(version.op("Write"), run_write).any_type().inexpensive());
  library.kernel(host_kernel(version.op("Scatter"), run_scatter));
  library.kernel(host_kernel(version.op("Split"), run_split));
  library.kernel(cpu_kernel(version.op("Read"), check_array_read, compute_parts).any_type().inexpensive());
  library.kernel(cpu_kernel(version.op("Gather"), check_array_gather, compute_parts));
  library.kernel(cpu_kernel(version.op("Concat"), check_array_concat, compute_parts));
}

}  // namespace

void add_tensor_array_ops(OpLibrary& library) {
  for (const ArrayVersion& version : array_versions) {
    add_maker(library, version);
    library.op(gradient_op(version.op("Grad"), version));
    add_writes(library, version);
    add_reads(library, version);
    add_kernels(library, version);
  }
  add_pack_ops(library, array_versions[0]);
  library.op(
      gradient_op("TensorArrayGradWithShape", array_versions[2]).host_input("shape_to_prepend: int32"));
  library.kernel(host_kernel("TensorArrayGradWithShape", run_gradient).inexpensive());
}

}  // namespace troupe
