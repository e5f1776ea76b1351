// Lists of tensors as values (kernels/core/tensor_list.h), which TensorFlow 2 writes into its loops. `element_shape` is a vector in
// which -1 is an unknown dimension, or the scalar -1. An element that was never set reads as zeros.
//   EmptyTensorList(element_shape, max_num_elements)     an empty list of `element_dtype`; a negative maximum means any number
//   TensorListReserve(element_shape, num_elements)       a list of `num_elements` elements, none of them set
//   TensorListPushBack(list, tensor)                     the list with one more element at the end
//   TensorListPopBack(list, element_shape)               the list without its last element, and that element
//   TensorListGetItem(list, index, element_shape)        the element
//   TensorListSetItem(list, index, item)                 the list with another element
//   TensorListStack(list, element_shape)                 all elements along a new first dimension
//   TensorListFromTensor(tensor, element_shape)          the list of the rows of the tensor
//   TensorListLength, TensorListElementShape, TensorListResize
//   _TensorListReverse(list)                             the elements from the last to the first (loop_layouts.h of graph/passes)
// See tensor_list_arithmetic.cpp for ZerosLike and AddN. Lists stay on the device where they are made; they are never sent or
// saved.
#include "kernels/ops/state/tensor_list_ops.h"

#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/state/tensor_list_gradients.h"

namespace troupe {
namespace {

DType element_dtype(const KernelContext& context) { return context.node().attrs.get<DType>("element_dtype"); }

Result<size_t> index_in(const KernelContext& context, size_t size) {
  TROUPE_ASSIGN(const int64_t index, integer_scalar(context.input(1), "index"));
  if (index < 0 || index >= static_cast<int64_t>(size))
    return invalid_argument("index " + std::to_string(index) + " is not in [0, " + std::to_string(size) +
                            "), the range of the list");
  return static_cast<size_t>(index);
}

Status run_empty(KernelContext& context) {
  TROUPE_ASSIGN(PartialShape shape, element_shape_in(context.input(0)));
  TROUPE_ASSIGN(const int64_t max_size, integer_scalar(context.input(1), "max_num_elements"));
  TROUPE_ASSIGN(TensorList* const list, new_list(context, element_dtype(context), std::move(shape)));
  list->max_size = max_size;
  return {};
}

Status run_reserve(KernelContext& context) {
  TROUPE_ASSIGN(PartialShape shape, element_shape_in(context.input(0)));
  TROUPE_ASSIGN(const int64_t count, integer_scalar(context.input(1), "num_elements"));
  TROUPE_ASSIGN(TensorList* const list, new_list(context, element_dtype(context), std::move(shape)));
  return list->resize(count);
}

Status run_push_back(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const from, list_in(context.input(0)));
  TROUPE_RETURN_IF_FAILED(from->check(context.input(1)));
  if (from->max_size >= 0 && static_cast<int64_t>(from->size()) >= from->max_size)
    return invalid_argument("the list is full: its max_num_elements is " + std::to_string(from->max_size));
  TROUPE_ASSIGN(TensorList* const list, changed_list(context, *from));
  list->push(context.input(1));
  return {};
}

/// Returns element `index` as output `out`. Input `requested` is the shape that the element should have.
Result<ListElementArguments> element_output(KernelContext& context, size_t out, const TensorList& list,
                                            size_t index, size_t requested) {
  if (const Tensor& element = list.elements[index]; element.valid()) {
    context.set_output(out, element);
    return ListElementArguments{nullptr};
  }
  TROUPE_ASSIGN(const PartialShape requested_shape, element_shape_in(context.input(requested)));
  TROUPE_ASSIGN(const Shape shape, list.shape_of_unset(requested_shape));
  TROUPE_ASSIGN(Tensor* const zeros, context.output(out, shape));
  return ListElementArguments{zeros};
}

void compute_list_element(const ListElementArguments& arguments, DeviceContext& device) {
  Tensor* const zeros = arguments.zeros;
  if (zeros && is_plain(zeros->dtype())) fill(device.pool(), *zeros);
}

Status run_set_item(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const from, list_in(context.input(0), element_dtype(context)));
  const bool may_grow = context.node().attrs.get<bool>("resize_if_index_out_of_bounds");
  TROUPE_ASSIGN(const size_t index, index_in(context, may_grow ? TensorList::max_elements : from->size()));
  TROUPE_RETURN_IF_FAILED(from->check(context.input(2)));
  TROUPE_ASSIGN(TensorList* const list, changed_list(context, *from));
  if (index >= list->size()) TROUPE_RETURN_IF_FAILED(list->resize(static_cast<int64_t>(index) + 1));
  list->set(index, context.input(2));
  return {};
}

Status run_from_tensor(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  if (tensor.shape().rank() == 0)
    return invalid_argument("tensor is a scalar; it must have at least one dimension");
  TROUPE_ASSIGN(PartialShape shape, element_shape_in(context.input(1)));
  TROUPE_ASSIGN(const Shape row, Shape::make(Dims(tensor.shape().dims()).without(0), tensor.dtype()));
  if (!shape.compatible_with(row))
    return invalid_argument("the rows of tensor have shape " + row.text() + ", but element_shape is " +
                            shape.text());
  TROUPE_ASSIGN(TensorList* const list, new_list(context, tensor.dtype(), std::move(shape)));
  TROUPE_RETURN_IF_FAILED(list->resize(tensor.shape()[0]));
  for (int64_t i = 0; i < tensor.shape()[0]; ++i)
    list->set(static_cast<size_t>(i), tensor.rows(i, i + 1).reshaped(row));
  return {};
}

Status run_length(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const list, list_in(context.input(0)));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  output->write<int32_t>()[0] = static_cast<int32_t>(list->size());
  return {};
}

Status run_element_shape(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const list, list_in(context.input(0)));
  const PartialShape& of = list->element_shape;
  const Shape shape = of.known_rank() ? Shape::vector(static_cast<int64_t>(of.rank())) : Shape{};
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  with_type(TypeList<int32_t, int64_t>{}, output->dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = output->write<T>();
    if (!of.known_rank()) values[0] = -1;
    std::ranges::transform(of.dims(), values.begin(), [](int64_t dim) { return static_cast<T>(dim); });
  });
  return {};
}

Status run_resize(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const from, list_in(context.input(0)));
  TROUPE_ASSIGN(const int64_t size, integer_scalar(context.input(1), "size"));
  TROUPE_ASSIGN(TensorList* const list, changed_list(context, *from));
  return list->resize(size);
}

Status run_reverse(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const from, list_in(context.input(0)));
  TROUPE_ASSIGN(TensorList* const list, changed_list(context, *from));
  std::ranges::reverse(list->elements);
  return {};
}

/// Begins the definition of an op on lists; its outputs are scalars unless another shape function is given.
OpDefBuilder list_op(const std::string& name, ShapeFunction shape = scalar_shape) {
  return OpDefBuilder("TensorList" + name).shape(shape);
}

Status pop_back_shape(ShapeContext& context) {
  context.set_output(0, PartialShape::scalar());
  return {};
}

Status stack_shape(ShapeContext& context) {
  const Tensor* const requested = context.constant(1);
  if (!requested) return {};
  TROUPE_ASSIGN(const PartialShape element, element_shape_in(*requested));
  context.set_output(0, concatenate(PartialShape::vector(context.attr<int64_t>("num_elements")), element));
  return {};
}

void add_makers(OpLibrary& library) {
  library.op(OpDefBuilder("EmptyTensorList")
                 .host_input("element_shape: shape_type")
                 .host_input("max_num_elements: int32")
                 .output("handle: variant")
                 .attr("element_dtype: type")
                 .attr("shape_type: {int32, int64}")
                 .shape(scalar_shape)
                 .not_differentiable());
  library.op(list_op("Reserve")
                 .host_input("element_shape: shape_type")
                 .host_input("num_elements: int32")
                 .output("handle: variant")
                 .attr("element_dtype: type")
                 .attr("shape_type: {int32, int64}")
                 .not_differentiable());
  library.op(list_op("FromTensor")
                 .input("tensor: element_dtype")
                 .host_input("element_shape: shape_type")
                 .output("output_handle: variant")
                 .attr("element_dtype: type")
                 .attr("shape_type: {int32, int64}")
                 .gradient(list_from_tensor_gradient));
}

void add_changes(OpLibrary& library) {
  library.op(list_op("PushBack")
                 .input("input_handle: variant")
                 .input("tensor: element_dtype")
                 .output("output_handle: variant")
                 .attr("element_dtype: type")
                 .gradient(list_push_back_gradient));
  library.op(list_op("PopBack", pop_back_shape)
                 .input("input_handle: variant")
                 .host_input("element_shape: int32")
                 .output("output_handle: variant")
                 .output("tensor: element_dtype")
                 .attr("element_dtype: type")
                 .gradient(list_pop_back_gradient));
  library.op(list_op("SetItem")
                 .input("input_handle: variant")
                 .host_input("index: int32")
                 .input("item: element_dtype")
                 .output("output_handle: variant")
                 .attr("element_dtype: type")
                 .attr("resize_if_index_out_of_bounds: bool = false")
                 .gradient(list_set_item_gradient));
  library.op(list_op("Resize")
                 .input("input_handle: variant")
                 .host_input("size: int32")
                 .output("output_handle: variant")
                 .gradient(list_resize_gradient));
  library.op(OpDefBuilder("_TensorListReverse")
                 .input("input_handle: variant")
                 .output("output_handle: variant")
                 .shape(scalar_shape));
}

void add_reads(OpLibrary& library) {
  library.op(list_op("GetItem", unknown_shape)
                 .input("input_handle: variant")
                 .host_input("index: int32")
                 .host_input("element_shape: Tshape")
                 .output("item: element_dtype")
                 .attr("element_dtype: type")
                 .attr("Tshape: {int32, int64} = int32")
                 .gradient(list_get_item_gradient));
  library.op(list_op("Stack", stack_shape)
                 .input("input_handle: variant")
                 .host_input("element_shape: int32")
                 .output("tensor: element_dtype")
                 .attr("element_dtype: type")
                 .attr("num_elements: int = -1")
                 .gradient(list_stack_gradient));
  library.op(
      list_op("Length").input("input_handle: variant").host_output("length: int32").not_differentiable());
  library.op(list_op("ElementShape", unknown_shape)
                 .input("input_handle: variant")
                 .host_output("element_shape: shape_type")
                 .attr("shape_type: {int32, int64}")
                 .not_differentiable());
}

}  // namespace

Result<PartialShape> element_shape_in(const Tensor& tensor) {
  const Dims dims = integers(tensor);
  if (tensor.shape().rank() > 1)
    return invalid_argument("element_shape has shape " + tensor.shape().text() +
                            "; it must be a scalar or a vector");
  if (tensor.shape().rank() == 1) return PartialShape::make({dims.begin(), dims.end()});
  if (dims[0] != -1)
    return invalid_argument("element_shape is the scalar " + std::to_string(dims[0]) +
                            "; the only scalar allowed is -1, for an unknown shape");
  return PartialShape();
}

Result<TensorList*> new_list(KernelContext& context, DType dtype, PartialShape element_shape) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  auto list = std::make_unique<TensorList>();
  list->dtype = dtype;
  list->element_shape = std::move(element_shape);
  TensorList* const there = list.get();
  output->write<Variant>()[0] = std::move(list);
  return there;
}

Result<TensorList*> changed_list(KernelContext& context, const TensorList& from) {
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, Shape{}));
  Variant& value = output->write<Variant>()[0];
  if (!value) value = std::make_unique<TensorList>(from);
  return static_cast<TensorList*>(value.get());
}

Result<ListElementArguments> check_list_get_item(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const list, list_in(context.input(0), element_dtype(context)));
  TROUPE_ASSIGN(const size_t index, index_in(context, list->size()));
  return element_output(context, 0, *list, index, 2);
}

Result<ListElementArguments> check_list_pop_back(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const from, list_in(context.input(0), element_dtype(context)));
  if (from->size() == 0) return invalid_argument("the list is empty: there is nothing to pop");
  TROUPE_ASSIGN(const ListElementArguments arguments, element_output(context, 1, *from, from->size() - 1, 1));
  TROUPE_ASSIGN(TensorList* const list, changed_list(context, *from));
  list->elements.pop_back();
  return arguments;
}

Result<Tensor*> stacked_output(KernelContext& context, const TensorList& list, int64_t count,
                               const PartialShape& shape) {
  if (!shape.fully_known())
    return invalid_argument("no element is set, and the element shape is not fully known: " + shape.text());
  TROUPE_ASSIGN(const Shape element, shape.to_shape(list.dtype));
  TROUPE_ASSIGN(const Shape whole, Shape::make(Dims(element.dims()).with(0, count), list.dtype));
  return context.output(0, whole);
}

Result<ListParts> check_list_stack(KernelContext& context) {
  TROUPE_ASSIGN(const TensorList* const list, list_in(context.input(0), element_dtype(context)));
  const auto count = static_cast<int64_t>(list->size());
  if (const auto requested = context.node().attrs.get<int64_t>("num_elements");
      requested >= 0 && requested != count)
    return invalid_argument("the list has " + std::to_string(count) + " elements, but num_elements is " +
                            std::to_string(requested));
  TROUPE_ASSIGN(const PartialShape requested, element_shape_in(context.input(1)));
  TROUPE_ASSIGN(const PartialShape shape, list->common_shape(requested));
  TROUPE_ASSIGN(Tensor* const output, stacked_output(context, *list, count, shape));
  ListParts parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back({list->elements[static_cast<size_t>(i)], output->rows(i, i + 1)});
  return parts;
}

void compute_list_parts(const ListParts& parts, DeviceContext& device) {
  for (const ListPart& part : parts) {
    Tensor output = part.output;
    if (!part.element.valid()) {
      if (is_plain(output.dtype())) fill(device.pool(), output);
      continue;
    }
    const Dims dims(1, output.elements());
    const Layout layout{0, strides_of(dims)};
    strided_copy(device.pool(), dims, part.element, layout, output, layout);
  }
}

void add_tensor_list_ops(OpLibrary& library) {
  add_makers(library);
  add_changes(library);
  add_reads(library);
  // Elements may be lists.
  library.kernel(host_kernel("EmptyTensorList", run_empty).any_type().inexpensive());
  library.kernel(host_kernel("TensorListReserve", run_reserve).any_type().inexpensive());
  library.kernel(host_kernel("TensorListPushBack", run_push_back).any_type().inexpensive());
  library.kernel(
      cpu_kernel("TensorListPopBack", check_list_pop_back, compute_list_element).any_type().inexpensive());
  library.kernel(
      cpu_kernel("TensorListGetItem", check_list_get_item, compute_list_element).any_type().inexpensive());
  library.kernel(host_kernel("TensorListSetItem", run_set_item).any_type().inexpensive());
  library.kernel(cpu_kernel("TensorListStack", check_list_stack, compute_list_parts));
  library.kernel(host_kernel("TensorListFromTensor", run_from_tensor));
  library.kernel(host_kernel("TensorListLength", run_length).inexpensive());
  library.kernel(host_kernel("TensorListElementShape", run_element_shape).inexpensive());
  library.kernel(host_kernel("TensorListResize", run_resize).inexpensive());
  library.kernel(host_kernel("_TensorListReverse", run_reverse).inexpensive());
}

}  // namespace troupe
