// Comparisons on GPUs: see comparisons.cpp.
#include "kernels/ops/math/comparisons.h"

#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {
namespace {

struct SetBool {
  bool* to;
  bool value;
  TROUPE_ANY void operator()(size_t i) const { to[i] = value; }
};

template <class F, class T>
Status compute_equality(const EqualityArguments& arguments, DeviceContext& device) {
  if (arguments.broadcasts) return gpu::compute_binary<F, T>(arguments.elements, device);
  constexpr bool unequal = std::is_same_v<F, gpu::NotEqual>;
  return gpu::each(device, 1, SetBool{reinterpret_cast<bool*>(arguments.elements.out), unequal});
}

template <class F, class T>
KernelDef equality_kernel(const char* op) {
  return kernel_on("GPU", op,
                   [](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
                     if (context.attr<bool>("incompatible_shape_error"))
                       return make_kernel(BinaryCheck{}, gpu::compute_binary<F, T>);
                     return make_kernel(check_equality, compute_equality<F, T>);
                   })
      .on("T", {dtype_of<T>});
}

template <class F, class... T>
void add_equality(OpLibrary& library, const char* op, TypeList<T...>) {
  (library.kernel(equality_kernel<F, T>(op)), ...);
}

}  // namespace

void add_comparisons_on_gpu(OpLibrary& library) {
  constexpr gpu::AllFloats types;
  add_equality<gpu::Equal>(library, "Equal", types);
  add_equality<gpu::NotEqual>(library, "NotEqual", types);
  gpu::add_binary<gpu::Greater>(library, "Greater", types);
  gpu::add_binary<gpu::GreaterEqual>(library, "GreaterEqual", types);
  gpu::add_binary<gpu::Less>(library, "Less", types);
  gpu::add_binary<gpu::LessEqual>(library, "LessEqual", types);
}

}  // namespace troupe
