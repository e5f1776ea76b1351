// StridedSliceAssign(ref, begin, end, strides, value) and ResourceStridedSliceAssign: the variable, in which the slice that
// StridedSlice would return (kernels/ops/array/strided_slice.cpp) is replaced by the value, broadcast to its shape as in NumPy.
// Fails with InvalidArgument, and writes nothing, if the slice does not fit the variable, or the value the slice.
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/ops/array/strided_slice.h"
#include "kernels/ops/state/new_value.h"

namespace troupe {
namespace {

struct SliceAssignArguments {
  NewValue variable;
  const Tensor& value;
  BoxCopy box;
};

Status check_value(const PartialShape& value, const PartialShape& slice) {
  const auto shape = broadcast(value, slice);
  if (shape && shape->compatible_with(slice)) return {};
  return invalid_argument("the value has shape " + value.text() +
                          ", which does not broadcast to the slice of shape " + slice.text());
}

Status slice_assign_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape slice, sliced_shape(context));
  TROUPE_RETURN_IF_FAILED(check_value(context.input(4), slice));
  if (!context.node().output_types.empty()) context.set_output(0, context.input(0));
  return {};
}

/// Returns the layout of a value that is broadcast to `dims`.
Layout broadcast_layout(std::span<const int64_t> value, std::span<const int64_t> dims) {
  const Dims strides = strides_of(value);
  Layout layout{0, Dims(dims.size(), 0)};
  const size_t left = dims.size() - value.size();
  for (size_t i = 0; i < value.size(); ++i)
    if (value[i] != 1) layout.strides[left + i] = strides[i];
  return layout;
}

Result<SliceAssignArguments> check_slice_assign(KernelContext& context) {
  const Tensor& value = context.input(4);
  TROUPE_ASSIGN(const SliceTarget target, slice_target(context));
  TROUPE_RETURN_IF_FAILED(check_value(value.shape(), partial(target.dims)));
  TROUPE_ASSIGN(NewValue variable, new_value(context, 0));
  return SliceAssignArguments{
      std::move(variable), value,
      BoxCopy(target.dims, broadcast_layout(value.shape().dims(), target.dims), target.layout)};
}

void compute_slice_assign(const SliceAssignArguments& arguments, DeviceContext& device) {
  arguments.variable.bring_over(device.pool());
  if (!arguments.box.empty())
    strided_copy(device.pool(), arguments.box, arguments.value, *arguments.variable.after);
}

}  // namespace

void add_strided_slice_assign(OpLibrary& library) {
  for (const bool resource : {false, true}) {
    const std::string name = resource ? "ResourceStridedSliceAssign" : "StridedSliceAssign";
    OpDefBuilder op = with_masks(
        OpDefBuilder(name).served_by(variable_service).effect(Effect::State).shape(slice_assign_shape));
    op.input(resource ? "ref: resource" : "ref: Ref(T)");
    for (const char* input : {"begin: Index", "end: Index", "strides: Index"}) op.host_input(input);
    op.input("value: T");
    if (!resource) op.output("output_ref: Ref(T)");
    library.op(op.attr("T: type").attr("Index: {int32, int64}"));
    library.kernel(cpu_kernel(name, check_slice_assign, compute_slice_assign));
  }
}

}  // namespace troupe
