// AvgPool and its gradient on GPUs: see avg_pool.cpp.
#include "kernels/ops/nn/avg_pool.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/pooling.h"

namespace troupe {
namespace {

template <class T, size_t Width>
struct Average {
  using Pack = gpu::Pack<T, Width>;
  gpu::PoolShape shape;
  const Pack* from;
  Pack* to;

  static size_t calls(const gpu::PoolShape& shape) { return shape.output.elements(); }
  TROUPE_ANY void operator()(size_t i) const {
    const gpu::Place place = shape.output.place(i);
    gpu::Wide<T> sums[Width] = {};
    shape.for_covered(place, [&](size_t element, const auto&) {
      const Pack values = from[element];
      for (size_t k = 0; k < Width; ++k) sums[k] += gpu::load(values.items[k]);
    });
    for (auto& sum : sums) sum /= static_cast<gpu::Wide<T>>(shape.count(place.at));
    to[i] = gpu::packed<T>(sums);
  }
};

template <class T, size_t Width>
struct AverageGradient {
  using Pack = gpu::Pack<T, Width>;
  gpu::PoolShape shape;
  const Pack* from;
  Pack* to;

  static size_t calls(const gpu::PoolShape& shape) { return shape.input.elements(); }
  TROUPE_ANY void operator()(size_t i) const {
    gpu::Wide<T> sums[Width] = {};
    shape.for_covering(shape.input.place(i), [&](size_t output, const int(&at)[3]) {
      const Pack values = from[output];
      const auto count = static_cast<gpu::Wide<T>>(shape.count(at));
      for (size_t k = 0; k < Width; ++k) sums[k] += gpu::load(values.items[k]) / count;
    });
    to[i] = gpu::packed<T>(sums);
  }
};

template <template <class, size_t> class Body>
Status compute(const AvgPoolArguments& arguments, DeviceContext& device) {
  const auto& [from, to, pooling] = arguments;
  if (to.elements() == 0) return {};
  if (from.elements() == 0) return gpu::clear(device, to);
  return gpu::for_type(gpu::AllFloats{}, to.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const source = arguments.from.as<T>().data();
    T* const target = arguments.to.write<T>().data();
    const auto run = [&]<size_t Width>(std::integral_constant<size_t, Width>) {
      const gpu::PoolShape shape(arguments.pooling, Width);
      return gpu::each(device, Body<T, Width>::calls(shape),
                       Body<T, Width>{shape, gpu::packs<Width>(source), gpu::packs<Width>(target)});
    };
    return gpu::with_channels<T>(arguments.pooling, {source, target}, run);
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
