// ApproximateEqual on GPUs: see approximate_equal.cpp.
#include "kernels/ops/math/approximate_equal.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"

namespace troupe {
namespace {

struct IsNear {
  float tolerance;
  template <class T>
  TROUPE_ANY bool operator()(T x, T y) const {
    return is_near(x, y, tolerance);
  }
};

Status compute_approximate_equal(const ApproximateEqualArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto n = static_cast<size_t>(arguments.z.elements());
    return gpu::map(device, IsNear{arguments.tolerance}, n, arguments.z.write<bool>().data(),
                    arguments.x.as<T>().data(), arguments.y.as<T>().data());
  });
}

}  // namespace

void add_approximate_equal_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("ApproximateEqual", check_approximate_equal, compute_approximate_equal)
                     .on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
