// Cross on GPUs: see cross.cpp.
#include "kernels/ops/math/cross.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

/// Computes element i of the products from the two other elements of its vectors.
template <class T>
struct CrossElement {
  const T *a, *b;
  T* product;
  gpu::Divider three = gpu::Divider(3);

  TROUPE_ANY void operator()(size_t i) const {
    size_t vector = i;
    const size_t at = gpu::split(three, vector), first = i - at;
    const size_t next = first + (at < 2 ? at + 1 : 0), last = first + (at > 0 ? at - 1 : 2);
    gpu::store(product[i], gpu::load(a[next]) * gpu::load(b[last]) - gpu::load(a[last]) * gpu::load(b[next]));
  }
};

Status compute_cross(const CrossArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.product.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, static_cast<size_t>(arguments.product.elements()),
                     CrossElement<T>{arguments.a.as<T>().data(), arguments.b.as<T>().data(),
                                     arguments.product.write<T>().data()});
  });
}

}  // namespace

void add_cross_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("Cross", check_cross, compute_cross).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
