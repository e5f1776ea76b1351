// AssignAdd and AssignSub on GPUs: see assign.cpp.
#include "kernels/ops/state/assign.h"

#include "kernels/gpu/functions.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"

namespace troupe {
namespace {

template <class Function>
Status compute_assign_add(const AssignAddArguments& arguments, DeviceContext& device) {
  const NewValue& variable = arguments.variable;
  return gpu::for_type(gpu::AllFloats{}, arguments.value.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto after = variable.after->write<T>();
    return gpu::map(device, Function{}, after.size(), after.data(), variable.before<T>().data(),
                    arguments.value.as<T>().data());
  });
}

template <class Function>
void add_kernels(OpLibrary& library, const std::string& op) {
  const auto types = dtypes(gpu::AllFloats{});
  library.kernel(gpu_kernel(op, check_assign_add, compute_assign_add<Function>).on("T", types));
  library.kernel(
      gpu_kernel(op + "VariableOp", check_assign_add, compute_assign_add<Function>).on("dtype", types));
}

}  // namespace

void add_assign_on_gpu(OpLibrary& library) {
  add_kernels<gpu::Add>(library, "AssignAdd");
  add_kernels<gpu::Sub>(library, "AssignSub");
}

}  // namespace troupe
