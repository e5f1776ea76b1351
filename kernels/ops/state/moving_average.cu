// ApplyMovingAverage on GPUs: see moving_average.cpp.
#include "kernels/ops/state/moving_average.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

template <class T>
struct MoveAverage {
  const T *before, *value, *rate;
  T* after;

  TROUPE_ANY void operator()(size_t i) const {
    const auto old = gpu::load(before[i]);
    gpu::store(after[i], old - gpu::load(*rate) * (old - gpu::load(value[i])));
  }
};

Status compute_moving_average(const MovingAverageArguments& arguments, DeviceContext& device) {
  return gpu::for_type(AverageTypes{}, arguments.value.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto after = arguments.average.after->write<T>();
    return gpu::each(device, after.size(),
                     MoveAverage<T>{arguments.average.before<T>().data(), arguments.value.as<T>().data(),
                                    arguments.rate.as<T>().data(), after.data()});
  });
}

}  // namespace

void add_moving_average_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("ApplyMovingAverage", check_moving_average, compute_moving_average)
                     .on("T", dtypes(AverageTypes{})));
}

}  // namespace troupe
