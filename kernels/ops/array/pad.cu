// MirrorPad on GPUs: see pad.cpp.
#include "kernels/gpu/divider.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/storage.h"
#include "kernels/ops/array/mirror_pad.h"

namespace troupe {
namespace {

constexpr size_t max_axes = 8;

template <class T>
struct Mirror {
  struct Axis {
    gpu::Divider padded;
    int64_t before, size, step;  ///< of the input
  };
  const T* from;
  T* to;
  int64_t unused;
  unsigned rank;
  Axis axes[max_axes];

  TROUPE_ANY void operator()(size_t i) const {
    int64_t source = 0;
    size_t rest = i;
    for (unsigned k = rank; k-- > 0;) {
      const Axis& axis = axes[k];
      const size_t outer = axis.padded.quotient(rest);
      int64_t at = static_cast<int64_t>(rest - outer * axis.padded.divisor()) - axis.before;
      if (at < 0)
        at = unused - 1 - at;
      else if (at >= axis.size)
        at = 2 * axis.size - 1 - unused - at;
      source += at * axis.step;
      rest = outer;
    }
    to[i] = from[source];
  }
};

Status compute_mirror_pad(const MirrorArguments& arguments, DeviceContext& device) {
  Tensor* const output = arguments.output;
  if (!output || output->elements() == 0) return {};
  const auto dims = arguments.input.shape().dims();
  if (dims.size() > max_axes)
    return unimplemented("the input has " + std::to_string(dims.size()) + " dimensions, a GPU pads at most " +
                         std::to_string(max_axes));
  return gpu::with_stored(output->dtype(), [&]<class T>(std::type_identity<T>) {
    Mirror<T> mirror{gpu::stored<T>(arguments.input),
                     gpu::stored<T>(*output),
                     arguments.padding.unused,
                     static_cast<unsigned>(dims.size()),
                     {}};
    int64_t step = 1;
    for (size_t k = dims.size(); k-- > 0; step *= dims[k])
      mirror.axes[k] = {gpu::Divider(static_cast<size_t>(output->shape()[k])),
                        arguments.padding.paddings[2 * k], dims[k], step};
    return gpu::each(device, static_cast<size_t>(output->elements()), mirror);
  });
}

}  // namespace

void add_pad_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("MirrorPad", check_mirror_pad, compute_mirror_pad)
                     .on("T", dtypes(gpu::MovedTypesAndIntegers{})));
}

}  // namespace troupe
