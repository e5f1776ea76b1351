// AvgPool and its gradient on GPUs: see avg_pool.cpp.
#include "kernels/ops/nn/avg_pool.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/pooling.h"

namespace troupe {
namespace {

template <class T>
struct Average {
  gpu::PoolShape shape;
  const T* from;
  T* to;

  TROUPE_ANY void operator()(size_t i) const {
    const gpu::Place place = shape.output.place(i);
    gpu::Wide<T> sum = 0;
    shape.for_covered(place, [&](size_t element, const auto&) { sum += gpu::load(from[element]); });
    gpu::store(to[i], sum / static_cast<gpu::Wide<T>>(shape.count(place.at)));
  }
};

template <class T>
struct AverageGradient {
  gpu::PoolShape shape;
  const T* from;
  T* to;

  TROUPE_ANY void operator()(size_t i) const {
    gpu::Wide<T> sum = 0;
    shape.for_covering(shape.input.place(i), [&](size_t output, const int(&at)[3]) {
      sum += gpu::load(from[output]) / static_cast<gpu::Wide<T>>(shape.count(at));
    });
    gpu::store(to[i], sum);
  }
};

template <template <class> class Body>
Status compute(const AvgPoolArguments& arguments, DeviceContext& device) {
  const auto& [from, to, pooling] = arguments;
  const auto n = static_cast<size_t>(to.elements());
  if (n == 0) return {};
  if (from.elements() == 0) return gpu::clear(device, to);
  return gpu::for_type(gpu::AllFloats{}, to.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, n,
                     Body<T>{gpu::PoolShape(arguments.pooling), arguments.from.as<T>().data(),
                             arguments.to.write<T>().data()});
  });
}

}  // namespace

void add_avg_pool_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::AllFloats{});
  for (const std::string op : {"AvgPool", "AvgPool3D"}) {
    library.kernel(gpu_kernel(op, check_avg_pool, compute<Average>).on("T", types));
    library.kernel(gpu_kernel(op + "Grad", check_avg_pool_grad, compute<AverageGradient>).on("T", types));
  }
}

}  // namespace troupe
