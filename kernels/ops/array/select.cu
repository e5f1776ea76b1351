// Select and SelectV2 on GPUs: see select.cpp. The output is always computed, because only the device knows the condition.
#include "kernels/ops/array/select.h"

#include "kernels/gpu/functions.h"
#include "kernels/gpu/map.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

template <Result<SelectArguments> (*check)(KernelContext&)>
Result<SelectArguments> check_and_allocate(KernelContext& context) {
  TROUPE_ASSIGN(SelectArguments arguments, check(context));
  TROUPE_RETURN_IF_FAILED(allocate_select(arguments, context));
  return arguments;
}

/// The sides are the condition, t and e.
Result<gpu::Strides<3>> strides_of(const SelectArguments& arguments) {
  using Strides = gpu::Strides<3>;
  if (arguments.broadcast) return Strides::make(*arguments.broadcast);
  const auto per_condition = static_cast<ptrdiff_t>(arguments.per_condition);
  const Strides::Axis axes[] = {
      {static_cast<size_t>(arguments.condition.elements()), {1, per_condition, per_condition}},
      {arguments.per_condition, {0, 1, 1}}};
  return Strides::make(axes);
}

Status compute_select(const SelectArguments& arguments, DeviceContext& device) {
  Tensor& output = *arguments.output;
  if (output.elements() == 0) return {};
  TROUPE_ASSIGN(const auto strides, strides_of(arguments));
  return gpu::with_stored(output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::map_strided(device, gpu::Choose(), static_cast<size_t>(output.elements()),
                            gpu::stored<T>(output), strides, gpu::stored<bool>(arguments.condition),
                            gpu::stored<T>(arguments.t), gpu::stored<T>(arguments.e));
  });
}

}  // namespace

void add_select_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypesAndIntegers{});
  library.kernel(gpu_kernel("Select", check_and_allocate<check_select>, compute_select).on("T", types));
  library.kernel(gpu_kernel("SelectV2", check_and_allocate<check_select_v2>, compute_select).on("T", types));
}

}  // namespace troupe
