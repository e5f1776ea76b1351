// ImageProjectiveTransformV2 and V3 on GPUs: see projective_transform.cpp.
#include "kernels/ops/images/projective_transform.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

using TransformedTypes = TypeList<float, double, Half, BFloat16>;

/// Makes one element of the outputs.
template <class T>
struct Transform {
  Projection projection;
  gpu::Divider channels, columns, rows;
  const T* images;
  gpu::Wide<T> fill;
  T* to;

  TROUPE_ANY void operator()(size_t i) const {
    size_t image = i;
    const size_t channel = gpu::split(channels, image);
    const auto column = static_cast<int64_t>(gpu::split(columns, image)),
               row = static_cast<int64_t>(gpu::split(rows, image));
    const SourcePixels sources = projection(static_cast<int64_t>(image), row, column);
    const size_t first = image * static_cast<size_t>(projection.height * projection.width);
    const auto value = [&](int64_t number) {
      return number < 0
                 ? fill
                 : gpu::load(images[(first + static_cast<size_t>(number)) * channels.divisor() + channel]);
    };
    gpu::store(to[i], sources.count == 0 ? fill : sources.at(value));
  }
};

Status compute_transform(const ProjectiveArguments& arguments, DeviceContext& device) {
  return gpu::for_type(TransformedTypes{}, arguments.from.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto divider = [](int64_t size) {
      return gpu::Divider(static_cast<size_t>(std::max<int64_t>(size, 1)));
    };
    const auto to = arguments.output.write<T>();
    return gpu::each(
        device, to.size(),
        Transform<T>{Projection(arguments), divider(arguments.channels), divider(arguments.columns),
                     divider(arguments.rows), arguments.from.as<T>().data(),
                     static_cast<gpu::Wide<T>>(arguments.fill), to.data()});
  });
}

}  // namespace

void add_projective_transform_on_gpu(OpLibrary& library) {
  for (const char* const op : {"ImageProjectiveTransformV2", "ImageProjectiveTransformV3"})
    library.kernel(
        gpu_kernel(op, check_projective, compute_transform).on("dtype", dtypes(TransformedTypes{})));
}

}  // namespace troupe
