// MirrorPad and MirrorPadGrad on GPUs: see pad.cpp.
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/storage.h"
#include "kernels/loops/rows.h"
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
      mirror.axes[k] = {gpu::divider(output->shape()[k]), arguments.padding.paddings[2 * k], dims[k], step};
    return gpu::each(device, static_cast<size_t>(output->elements()), mirror);
  });
}

// ---- MirrorPadGrad

/// Takes the padding of one dimension away: each element that is kept is the sum of itself, of the element before the border that
/// mirrors it, and of the one behind. Sums are rounded as elements.
template <class T>
struct Fold {
  const T* from;
  T* to;
  gpu::Divider inner, kept;
  int64_t before, after, unused;

  TROUPE_ANY void operator()(size_t i) const {
    const auto step = static_cast<int64_t>(inner.divisor()), size = static_cast<int64_t>(kept.divisor());
    size_t rest = i;
    const auto column = static_cast<int64_t>(gpu::split(inner, rest));
    const auto at = static_cast<int64_t>(gpu::split(kept, rest));
    const T* const line = from + static_cast<int64_t>(rest) * (before + size + after) * step + column;
    const int64_t above = at - unused, below = size - 1 - unused - at;
    T sum = line[(before + at) * step];
    if (above >= 0 && above < before) add(sum, line[(before - 1 - above) * step]);
    if (below >= 0 && below < after) add(sum, line[(before + size + below) * step]);
    to[i] = sum;
  }

 private:
  TROUPE_ANY static void add(T& sum, const T& element) {
    gpu::store(sum, gpu::load(sum) + gpu::load(element));
  }
};

/// Folds one dimension after the other, the last one that has padding into the output.
template <class T>
Status fold_dimensions(const MirrorArguments& arguments, DeviceContext& device) {
  const auto& [paddings, unused, padded] = arguments.padding;
  Tensor& output = *arguments.output;
  Dims dims(arguments.input.shape().dims());
  const T* from = arguments.input.as<T>().data();
  BufferRef memory;  // of `from`, once it is not the input
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == output.shape()[k]) continue;
    dims[k] = output.shape()[k];
    const size_t n = count_of(dims);
    BufferRef folded;
    T* to = output.write<T>().data();
    if (n != static_cast<size_t>(output.elements())) {
      TROUPE_ASSIGN(folded, gpu::scratch(device, n * sizeof(T)));
      to = reinterpret_cast<T*>(folded->data);
    }
    const gpu::Divider inner(count_of(std::span<const int64_t>(dims).subspan(k + 1)));
    const Fold<T> fold{from, to, inner, gpu::divider(dims[k]), paddings[2 * k], paddings[2 * k + 1], unused};
    TROUPE_RETURN_IF_FAILED(gpu::each(device, n, fold));
    from = to;
    memory = std::move(folded);
  }
  return {};
}

Status compute_mirror_pad_grad(const MirrorArguments& arguments, DeviceContext& device) {
  if (!arguments.output || arguments.output->elements() == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.output->dtype(),
                       [&]<class T>(std::type_identity<T>) { return fold_dimensions<T>(arguments, device); });
}

}  // namespace

void add_pad_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("MirrorPad", check_mirror_pad, compute_mirror_pad)
                     .on("T", dtypes(gpu::MovedTypesAndIntegers{})));
  library.kernel(gpu_kernel("MirrorPadGrad", check_mirror_pad_grad, compute_mirror_pad_grad)
                     .on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
